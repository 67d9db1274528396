import { Chart } from "../../components/chart.tsx";
import { Card } from "../../components/page.tsx";
import { useSegmentSizes } from "./api.ts";
import { usersText } from "./size.tsx";

/** The recorded sizes of a segment: when it was saved, and on each day since. */
export function SizeOverTime({
  workspace,
  id,
}: {
  readonly workspace: string;
  readonly id: string;
}) {
  const { data } = useSegmentSizes(workspace);
  const sizes = data?.segments.find((each) => each.id === id)?.sizes ?? [];
  const last = sizes.at(-1);
  return (
    <Card>
      <Chart
        label="Size over time"
        summary="users at the end of each of the last 30 days, and now"
        isDaily
        times={sizes.map(({ time }) => Date.parse(time) / 1_000)}
        lines={
          last
            ? [
                {
                  name: "Users",
                  color: "info",
                  values: sizes.map(({ size }) => size),
                  whole: usersText(last.size),
                },
              ]
            : []
        }
      />
    </Card>
  );
}
