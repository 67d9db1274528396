import { createTheme, Drawer, Modal, Notification, Tooltip } from "@mantine/core";

/** What styles/theme.css cannot say: the defaults of components. */
export const theme = createTheme({
  primaryColor: "blue",
  respectReducedMotion: true,
  defaultRadius: "md",
  components: {
    // Locking the scroll writes an inline <style>, which the Content-Security-Policy refuses; see parts.css.
    Modal: Modal.extend({ defaultProps: { lockScroll: false, centered: true, radius: "lg" } }),
    Drawer: Drawer.extend({ defaultProps: { lockScroll: false } }),
    Notification: Notification.extend({
      defaultProps: { closeButtonProps: { "aria-label": "Close the message" } },
    }),
    Tooltip: Tooltip.extend({ defaultProps: { withArrow: true, openDelay: 300 } }),
  },
});
