import type { ReactNode } from "react";

interface RowButtonProps {
  readonly isOpen: boolean;
  readonly onClick: () => void;
  readonly children: ReactNode;
}

/** The first cell of a row that opens: the whole row is this button. */
export const RowButton = ({ isOpen, onClick, children }: RowButtonProps) => (
  <button type="button" className="row-link clamped" aria-expanded={isOpen} onClick={onClick}>
    {children}
  </button>
);
