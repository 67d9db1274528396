import { Autocomplete, type AutocompleteProps } from "@mantine/core";
import { useState } from "react";
import { messageOf } from "../../api/api-error.ts";
import { type TableRequest, useTables } from "./api.ts";

interface TableFieldProps extends Omit<AutocompleteProps, "data"> {
  /** Its id. */
  readonly integration: string;
  /** The source that the form names now. */
  source(): TableRequest;
}

/** The tables or files of a source are offered, and any name may be typed. */
export function TableField(props: TableFieldProps) {
  const [asked, setAsked] = useState<TableRequest>();
  const { integration, source, description, ...field } = props;
  const { data, error } = useTables(integration, asked);
  const more = data?.more ? "The first 1,000 are offered; another name may be typed." : undefined;
  const hint = error ? messageOf(error) : (data?.problem ?? more);
  return (
    <Autocomplete
      {...field}
      description={hint ? `${description} ${hint}` : description}
      data={[...(data?.tables ?? [])]}
      limit={100}
      onFocus={(event) => {
        field.onFocus?.(event);
        setAsked(source());
      }}
      onChange={(value) => {
        field.onChange?.(value);
        // Another folder of a bucket.
        if (value.endsWith("/")) setAsked(source());
      }}
    />
  );
}
