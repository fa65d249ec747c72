/** The front page as browsers load it, in `.wrangler/public/assets/front`: with a live board, and with a picture of one. */
import path from "node:path";
import { frontPage } from "@atrium/docs/front/page.ts";
import { type Html, html } from "@atrium/docs/page.ts";
import { build } from "esbuild";
import { FRAMED_BOX } from "../../../examples/demo/canvas/camera.ts";
import { inkOf, pathOf } from "../../../examples/demo/room/shape.ts";
import { SEED } from "../../demo/seed.ts";
import { ROOT } from "../process/supervisor.ts";
import { replaceFiles } from "./demo-bundle.ts";
import { PUBLIC } from "./static-files.ts";

const FRONT = path.join(ROOT, "packages/docs/front");

export async function bundleFront(): Promise<void> {
  const { outputFiles } = await build({
    entryPoints: ["front.ts", "front.css"].map((name) => path.join(FRONT, name)),
    outdir: "/assets",
    bundle: true,
    format: "esm",
    minify: true,
    target: "es2022",
    external: ["/assets/*"],
    write: false,
  });
  const files = new Map<string, Uint8Array | string>(
    outputFiles.map((file) => [path.basename(file.path), file.contents]),
  );
  files.set("live.html", frontPage(firstBoard()));
  files.set("still.html", frontPage(null));
  await replaceFiles(path.join(PUBLIC, "assets/front"), files);
}

/** A drawing of the first content of a board, as a window of the front page shows it until the board itself has come. */
function firstBoard(): Html {
  const { x, y, width, height } = FRAMED_BOX;
  const notes = Object.values(SEED.notes).map(
    (note, index) =>
      html`<foreignObject x="${note.x}" y="${note.y}" width="200" height="168"><p class="note paper-${index}">${note.text}</p></foreignObject>`,
  );
  const shapes = Object.values(SEED.shapes).map(
    (shape) => html`<path d="${pathOf(shape)}" stroke="${inkOf(shape.tint)}"/>`,
  );
  return html`<svg class="board" viewBox="${x} ${y} ${width} ${height}" aria-hidden="true">${notes}${shapes}</svg>`;
}
