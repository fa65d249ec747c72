/** Vite with the back end: `POST /token`, while developing and in `npm run preview`. */
import { defineConfig } from "vite";
import { answerTokens } from "./tokens.ts";

const { PORT = "8795" } = process.env;

export default defineConfig({
  plugins: [
    {
      name: "tokens",
      configureServer: ({ middlewares }) => void middlewares.use("/token", answerTokens()),
      configurePreviewServer: ({ middlewares }) => void middlewares.use("/token", answerTokens()),
    },
  ],
  // `atrium` is a link to a folder that may see a Yjs of its own, and editors need the one that they share.
  resolve: { dedupe: ["yjs", "y-protocols", "lib0"] },
  build: { target: "es2024", chunkSizeWarningLimit: 4000 },
  server: { port: Number(PORT) },
  preview: { port: Number(PORT) },
});
