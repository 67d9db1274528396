import { CatchBoundary } from "@tanstack/react-router";
import { type ComponentType, lazy, type ReactNode, Suspense, useState } from "react";
import { OpenerOfPart, openerOfDialog } from "./return-focus.ts";
import { Failure } from "./states.tsx";

/**
 * A part of a page whose file the browser loads when the part is shown. If the file does not load,
 * it is requested once more; then the part shows an error with a button that tries again, and the
 * rest of the page stays.
 *
 * @param loading the content shown meanwhile.
 */
export function partOf<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  loading: ReactNode,
): ComponentType<Props> {
  const begin = (): ComponentType<Props> =>
    lazy(async () => ({ default: await load().catch(load) })) as unknown as ComponentType<Props>;
  let Loaded = begin();
  return function Part(props) {
    const [tries, setTries] = useState(0);
    const [opener] = useState(openerOfDialog);
    const tryAgain = () => {
      Loaded = begin();
      setTries(tries + 1);
    };
    return (
      <CatchBoundary
        getResetKey={() => tries}
        errorComponent={({ error }) => <Failure error={error} retry={tryAgain} />}
      >
        <Suspense fallback={loading}>
          <OpenerOfPart value={opener}>
            <Loaded {...props} />
          </OpenerOfPart>
        </Suspense>
      </CatchBoundary>
    );
  };
}
