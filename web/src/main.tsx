import "@fontsource-variable/inter/wght.css";
import "@mantine/core/styles.css";
import "@mantine/notifications/styles.css";
import "./styles/theme.css";
import "./styles/shell.css";
import "./styles/parts.css";
import "./styles/table.css";
import "./styles/grid.css";
import "./styles/overview.css";
import "./styles/quick-search.css";
import "./styles/segments.css";
import { MantineProvider } from "@mantine/core";
import { Notifications } from "@mantine/notifications";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { queryClient } from "./api/client.ts";
import { router } from "./routes.tsx";
import { theme } from "./theme.ts";

const root = document.getElementById("app");
if (!root) throw new Error("The page has no #app.");

createRoot(root).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      defaultColorScheme="auto"
      // Both write inline styles, which the Content-Security-Policy refuses: styles/theme.css
      // replaces them.
      withCssVariables={false}
      withGlobalClasses={false}
    >
      <QueryClientProvider client={queryClient}>
        <Notifications position="bottom-right" />
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
