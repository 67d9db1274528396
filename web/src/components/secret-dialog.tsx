import { Button, Group, Modal, Stack } from "@mantine/core";
import { CodeBlock } from "./code-block.tsx";
import { useReturnFocus } from "./return-focus.ts";
import { Notice } from "./states.tsx";

interface SecretDialogProps {
  readonly title: string;
  readonly secret: string;
  close(): void;
}

/**
 * A secret that is shown this once. Only its button closes the dialog, so that no accidental click
 * loses the secret.
 */
export function SecretDialog({ title, secret, close }: SecretDialogProps) {
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
        <Notice tone="warn">Copy it now: it is never shown again.</Notice>
        <CodeBlock code={secret} label="Secret" />
        <Group justify="flex-end">
          <Button onClick={close} data-autofocus>
            I have copied it
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
