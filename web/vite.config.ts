import { join } from "node:path";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";
import { noteThirdParty, packagesOf } from "../build/third-party.ts";

/** Notes which packages are in the dashboard. Styles and fonts have no code in a chunk. */
const noteLicences: Plugin = {
  name: "licences",
  generateBundle(_options, bundle) {
    const modules = new Set(
      [...this.getModuleIds()].filter((id) => /\.(css|woff2?)(\?|$)/.test(id)),
    );
    for (const chunk of Object.values(bundle)) {
      if (chunk.type !== "chunk") continue;
      for (const [id, { renderedLength }] of Object.entries(chunk.modules)) {
        if (renderedLength > 0) modules.add(id);
      }
    }
    noteThirdParty(join(import.meta.dirname, ".."), "web", packagesOf(modules));
  },
};

/** The dashboard, built into `dist/web`, from where the server serves it under /dashboard/. */
export default defineConfig({
  root: import.meta.dirname,
  base: "/dashboard/",
  plugins: [react(), noteLicences],
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
