import {
  Combobox,
  createTheme,
  Drawer,
  Menu,
  Modal,
  MultiSelect,
  Notification,
  Popover,
  Select,
  TagsInput,
  Tooltip,
} from "@mantine/core";

/** Overlays belong to the page's main landmark, where screen readers look for them. */
const portalProps = { target: "#main" };

/** The defaults of components, which styles/theme.css cannot express. */
export const theme = createTheme({
  primaryColor: "blue",
  respectReducedMotion: true,
  defaultRadius: "md",
  components: {
    // Locking the scroll writes an inline <style>, which the Content-Security-Policy refuses; see parts.css.
    Modal: Modal.extend({ defaultProps: { lockScroll: false, centered: true, radius: "lg" } }),
    Drawer: Drawer.extend({ defaultProps: { lockScroll: false } }),
    // The placeholder is an entry of the menu without a role.
    Menu: Menu.extend({ defaultProps: { portalProps, withInitialFocusPlaceholder: false } }),
    Popover: Popover.extend({ defaultProps: { portalProps } }),
    Combobox: Combobox.extend({ defaultProps: { portalProps } }),
    // The list itself scrolls (parts.css), so that arrow keys reach all of it.
    Select: Select.extend({ defaultProps: { withScrollArea: false, allowDeselect: false } }),
    MultiSelect: MultiSelect.extend({ defaultProps: { withScrollArea: false } }),
    TagsInput: TagsInput.extend({ defaultProps: { withScrollArea: false } }),
    Notification: Notification.extend({
      defaultProps: { closeButtonProps: { "aria-label": "Close the message" } },
    }),
    Tooltip: Tooltip.extend({ defaultProps: { withArrow: true, openDelay: 300 } }),
  },
});
