import { Modal } from "@mantine/core";
import type { ReactNode } from "react";
import { useReturnFocus } from "./return-focus.ts";

interface DialogProps {
  readonly title: string;
  readonly size?: string;
  close(): void;
  readonly children: ReactNode;
}

/** A dialog: it is open while it is rendered. */
export function Dialog({ title, size = "md", close, children }: DialogProps) {
  useReturnFocus();
  return (
    <Modal
      opened
      onClose={close}
      title={<bdi>{title}</bdi>}
      size={size}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      {children}
    </Modal>
  );
}
