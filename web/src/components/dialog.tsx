import { Modal } from "@mantine/core";
import { createContext, type ReactNode, useContext, useState } from "react";
import { useReturnFocus } from "./return-focus.ts";

/** How the dialog inside is closed. */
export const Closing = createContext<() => void>(() => undefined);

/** Closes the dialog that the caller is in. */
export const useClose = (): (() => void) => useContext(Closing);

/**
 * The dialog of a part of a page. `open` shows one, in place of another: a form can open the dialog that follows it.
 * `dialog` is drawn where the part ends.
 */
export function useDialog(): { open(content: ReactNode): void; readonly dialog: ReactNode } {
  const [dialog, setDialog] = useState<ReactNode>(null);
  const open = (content: ReactNode) => {
    const close = () => setDialog((shown: ReactNode) => (shown === opened ? null : shown));
    const opened: ReactNode = <Closing value={close}>{content}</Closing>;
    setDialog(opened);
  };
  return { open, dialog };
}

interface DialogProps {
  readonly title: string;
  readonly size?: string;
  readonly children: ReactNode;
}

/** A dialog: it is open while it is rendered. */
export function Dialog({ title, size = "md", children }: DialogProps) {
  useReturnFocus();
  return (
    <Modal
      opened
      onClose={useClose()}
      title={<bdi>{title}</bdi>}
      size={size}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      {children}
    </Modal>
  );
}
