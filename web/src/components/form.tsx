import { Button, Group, Stack } from "@mantine/core";
import { type FormValidateInput, type UseFormReturnType, useForm } from "@mantine/form";
import { useMutation } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { messageOf } from "../api/api-error.ts";
import { Dialog, useClose } from "./dialog.tsx";
import { Notice } from "./states.tsx";

/* The one pattern of forms: a dialog with fields, the server's refusal above them, and Save below. */

/** Why a form was not accepted, above its fields. */
export const SaveFailure = ({ error }: { readonly error: unknown }) =>
  error ? (
    <Notice tone="bad" title="Not saved">
      {messageOf(error)}
    </Notice>
  ) : null;

interface FormDialogProps<Values extends Record<string, unknown>> {
  readonly title: string;
  readonly initial: Values;
  readonly validate?: FormValidateInput<Values>;
  /** The label of the button. */
  readonly action?: string;
  readonly size?: string;
  /** Whether it does what cannot be undone. */
  readonly isDangerous?: boolean;
  /** Saves; the dialog closes once it is done, and stays with the reason if it fails. */
  save(values: Values): Promise<unknown>;
  children(form: UseFormReturnType<Values>): ReactNode;
}

export function FormDialog<Values extends Record<string, unknown>>(props: FormDialogProps<Values>) {
  const { title, initial, validate, action = "Save", size = "md", isDangerous = false } = props;
  const { save, children } = props;
  const close = useClose();
  const form = useForm<Values>({ initialValues: initial, ...(validate && { validate }) });
  const saving = useMutation({ mutationFn: save, onSuccess: close });
  return (
    <Dialog title={title} size={size}>
      <form onSubmit={form.onSubmit((values) => saving.mutate(values))}>
        <Stack>
          <SaveFailure error={saving.error} />
          {children(form)}
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            <Button type="submit" loading={saving.isPending} {...(isDangerous && { color: "red" })}>
              {action}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}

/** A rule of `validate`. */
export const required = (value: string): string | null => (value.trim() ? null : "Required.");
