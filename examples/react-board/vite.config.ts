/** Vite with the board's back end: `POST /token`, while developing and in `npm run preview`. */
import { defineConfig } from "vite";
import { answerTokens } from "./tokens.ts";

const { PORT = "8793" } = process.env;

export default defineConfig({
  plugins: [
    {
      name: "tokens",
      configureServer: ({ middlewares }) => void middlewares.use("/token", answerTokens()),
      configurePreviewServer: ({ middlewares }) => void middlewares.use("/token", answerTokens()),
    },
  ],
  // `atrium` is a link to a folder that may see a React of its own.
  resolve: { dedupe: ["react", "react-dom"] },
  server: { port: Number(PORT) },
  preview: { port: Number(PORT) },
});
