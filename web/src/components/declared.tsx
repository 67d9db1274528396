import { Tooltip } from "@mantine/core";

/** Says that a manifest declares something: the next apply may change it back. */
export const Declared = ({ declared }: { readonly declared: boolean }) =>
  declared ? (
    <Tooltip label="A manifest declares this: the next apply changes it back.">
      <span className="tag above">manifest</span>
    </Tooltip>
  ) : null;
