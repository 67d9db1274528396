import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

/** The dashboard, built into `dist/web`, from where the server serves it under /dashboard/. */
export default defineConfig({
  root: import.meta.dirname,
  base: "/dashboard/",
  plugins: [react()],
  build: {
    outDir: "../dist/web",
    emptyOutDir: true,
    target: "es2023",
    // A strict Content-Security-Policy allows no data: URLs for scripts and fonts.
    assetsInlineLimit: 0,
    // test/server/dashboard-size.test.ts measures the size of a page's files; compressing twice
    // only costs time.
    reportCompressedSize: false,
    // The libraries that every page needs are one file.
    chunkSizeWarningLimit: 1_000,
    manifest: "assets/manifest.json",
  },
  // `npm run web` beside a running server: pages reload on change, requests go to the server.
  server: {
    proxy: { "/admin": "http://127.0.0.1:8080", "/dashboard/session": "http://127.0.0.1:8080" },
  },
});
