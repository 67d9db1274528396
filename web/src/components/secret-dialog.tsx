import { Button, Group, Modal, Stack } from "@mantine/core";
import type { ReactNode } from "react";
import { CodeBlock } from "./code-block.tsx";
import { useClose } from "./dialog.tsx";
import { useReturnFocus } from "./return-focus.ts";
import { Notice } from "./states.tsx";

interface SecretDialogProps {
  readonly title: string;
  readonly secret: string;
  /** What it is, for the button that copies it. */
  readonly label?: string;
  /** Above it, instead of the sentence that it is never shown again. */
  readonly children?: ReactNode;
}

/**
 * A secret that is shown this once. Only its button closes the dialog, so that no accidental click
 * loses the secret.
 */
export function SecretDialog(props: SecretDialogProps) {
  const { title, secret, label = "Secret", children } = props;
  const close = useClose();
  useReturnFocus();
  return (
    <Modal
      opened
      onClose={close}
      title={title}
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
      size="lg"
    >
      <Stack>
        {children ?? <Notice tone="warn">Copy it now: it is never shown again.</Notice>}
        <CodeBlock code={secret} label={label} />
        <Group justify="flex-end">
          <Button onClick={close} data-autofocus>
            I have copied it
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
