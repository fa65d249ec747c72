/** Draws the board on a canvas: at most once per frame, and only what the window shows. */
import type { Camera } from "./camera.ts";
import { type Box, boxAround, overlap, type Shape } from "./shapes.ts";

const STROKE_WIDTH = 3;
const ACCENT = "#2563eb";
/** The size of the handle that resizes the selection, in pixels of the window. */
export const HANDLE = 12;

/** What is drawn; each function returns the current state. */
export interface Scene {
  shapes(): Iterable<[string, Shape]>;
  selection(): readonly Shape[];
  /** The rectangle that is being dragged to select shapes. */
  marquee(): Box | null;
  pictureUrl(file: string): string;
}

export class Painter {
  readonly #canvas: HTMLCanvasElement;
  readonly #camera: Camera;
  readonly #scene: Scene;
  readonly #pictures = new Map<string, HTMLImageElement>();
  #isScheduled = false;

  constructor(canvas: HTMLCanvasElement, camera: Camera, scene: Scene) {
    this.#canvas = canvas;
    this.#camera = camera;
    this.#scene = scene;
    addEventListener("resize", () => this.schedule());
  }

  schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    requestAnimationFrame(() => {
      this.#isScheduled = false;
      this.#paint();
    });
  }

  #paint(): void {
    const scale = devicePixelRatio;
    const { clientWidth, clientHeight } = this.#canvas;
    this.#canvas.width = clientWidth * scale;
    this.#canvas.height = clientHeight * scale;
    const context = this.#canvas.getContext("2d");
    if (context === null) return;
    const { x, y, zoom } = this.#camera.view;
    context.setTransform(zoom * scale, 0, 0, zoom * scale, -x * zoom * scale, -y * zoom * scale);
    const shown = { x, y, width: clientWidth / zoom, height: clientHeight / zoom };
    for (const [, shape] of this.#scene.shapes()) if (overlap(shape, shown)) this.#drawShape(context, shape);
    this.#drawSelection(context, zoom);
  }

  #drawShape(context: CanvasRenderingContext2D, shape: Shape): void {
    context.strokeStyle = shape.color;
    context.lineWidth = STROKE_WIDTH;
    context.lineCap = context.lineJoin = "round";
    if (shape.kind === "stroke") drawStroke(context, shape);
    else if (shape.kind === "box") context.strokeRect(shape.x, shape.y, shape.width, shape.height);
    else this.#drawPicture(context, shape);
  }

  #drawPicture(context: CanvasRenderingContext2D, { file, x, y, width, height }: Shape): void {
    const picture = this.#pictures.get(file);
    if (picture === undefined) {
      const loading = new Image();
      loading.onload = () => this.schedule();
      loading.src = this.#scene.pictureUrl(file);
      this.#pictures.set(file, loading);
    }
    if (picture?.complete && picture.naturalWidth > 0) context.drawImage(picture, x, y, width, height);
    else context.strokeRect(x, y, width, height);
  }

  #drawSelection(context: CanvasRenderingContext2D, zoom: number): void {
    context.strokeStyle = context.fillStyle = ACCENT;
    context.lineWidth = 1 / zoom;
    const around = boxAround(this.#scene.selection());
    if (around !== null) {
      const size = HANDLE / zoom;
      context.strokeRect(around.x, around.y, around.width, around.height);
      context.fillRect(around.x + around.width - size / 2, around.y + around.height - size / 2, size, size);
    }
    const marquee = this.#scene.marquee();
    if (marquee !== null) context.strokeRect(marquee.x, marquee.y, marquee.width, marquee.height);
  }
}

function drawStroke(context: CanvasRenderingContext2D, { points, x, y, width, height }: Shape): void {
  context.beginPath();
  for (let index = 0; index + 1 < points.length; index += 2)
    context.lineTo(x + (points[index] ?? 0) * width, y + (points[index + 1] ?? 0) * height);
  context.stroke();
}
