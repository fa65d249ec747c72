/** Vite with the back end, while developing and in `npm run preview`. */
import { type Connect, defineConfig } from "vite";
import { answers, respond } from "./server.ts";

const { PORT = "8798" } = process.env;

const addTo = async ({ middlewares }: { readonly middlewares: Connect.Server }) => {
  for (const [path, answer] of Object.entries(await answers())) middlewares.use(path, respond(answer));
};

export default defineConfig({
  plugins: [{ name: "back-end", configureServer: addTo, configurePreviewServer: addTo }],
  // `atrium` is a link to a folder that may see a React of its own.
  resolve: { dedupe: ["react", "react-dom"] },
  build: { target: "es2024" },
  server: { port: Number(PORT) },
  preview: { port: Number(PORT) },
});
