import { TextInput } from "@mantine/core";
import type { ReactNode } from "react";
import { FormDialog } from "./form.tsx";

interface ConfirmProps {
  readonly title: string;
  readonly children: ReactNode;
  /** The label of the button that does it. */
  readonly action: string;
  /** A text that has to be typed first, if the action cannot be undone. */
  readonly typed?: string;
  run(): Promise<unknown>;
}

/** Asks before what cannot be undone. */
export const Confirm = ({ title, children, action, typed = "", run }: ConfirmProps) => (
  <FormDialog
    title={title}
    initial={{ typed: "" }}
    validate={{ typed: (text) => (text === typed ? null : `Type ${typed} to confirm.`) }}
    action={action}
    isDangerous
    save={run}
  >
    {(form) => (
      <>
        <div>{children}</div>
        {typed && (
          <TextInput
            label={
              <>
                Type <code>{typed}</code> to confirm
              </>
            }
            autoComplete="off"
            data-autofocus
            {...form.getInputProps("typed")}
          />
        )}
      </>
    )}
  </FormDialog>
);
