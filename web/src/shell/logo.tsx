/** The mark of the product. */
export const Logo = ({ size = 24 }: { readonly size?: number }) => (
  <svg viewBox="0 0 32 32" width={size} height={size} aria-hidden="true">
    <rect width="32" height="32" rx="8" fill="#2f5bea" />
    <path d="M9 23V9h7.2a4.6 4.6 0 0 1 1.4 9L22 23h-4.2l-3.6-4.8H12.6V23z" fill="#fff" />
  </svg>
);
