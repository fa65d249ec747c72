/** The place of a thread on a canvas: a point of a page, or of a shape that moves. */
import { isRecord } from "../core/json.ts";

export interface Point {
  readonly x: number;
  readonly y: number;
}

type Bounds = Point & { readonly w: number; readonly h: number };

/** The part of tldraw's `Editor` that comments need. `never` stands for its IDs of shapes, which are texts of a type of its own. */
export interface CanvasEditor {
  getCurrentPageId(): string;
  getViewportScreenBounds(): Bounds;
  screenToPage(point: Point): Point;
  pageToViewport(point: Point): Point;
  getShapeAtPoint(
    point: Point,
    options: { readonly hitInside: boolean },
  ): { readonly id: string } | undefined;
  getShapePageBounds(shapeId: never): Bounds | undefined;
  getAncestorPageId(shapeId: never): string | undefined;
  markEventAsHandled(event: { readonly nativeEvent: Event }): void;
  on(event: "change", listener: () => void): unknown;
  off(event: "change", listener: () => void): unknown;
}

const asShapeId = (id: string): never => id as never;

const boundsOf = (editor: CanvasEditor, shapeId: string | undefined): Bounds | undefined =>
  shapeId === undefined ? undefined : editor.getShapePageBounds(asShapeId(shapeId));

/** The `anchor` of a thread on a canvas. */
export interface CanvasAnchor extends Point {
  readonly pageId: string;
  /** The shape at that point, and the part of its width and height where the point is, from 0 to 1. */
  readonly shapeId?: string;
  readonly shapeX?: number;
  readonly shapeY?: number;
}

/** The anchor for a point of the current page, in page coordinates: it follows the shape there, if there is one. */
export function anchorAt(editor: CanvasEditor, { x, y }: Point): CanvasAnchor {
  const anchor = { pageId: editor.getCurrentPageId(), x, y };
  const shapeId = editor.getShapeAtPoint({ x, y }, { hitInside: true })?.id;
  const bounds = boundsOf(editor, shapeId);
  if (shapeId === undefined || bounds === undefined) return anchor;
  // A straight line has no width or height.
  const [shapeX, shapeY] = [(x - bounds.x) / (bounds.w || 1), (y - bounds.y) / (bounds.h || 1)];
  return { ...anchor, shapeId, shapeX, shapeY };
}

/** The anchor of a comment; null unless it is one of a canvas. Other clients can write anything. */
export function readAnchor(value: unknown): CanvasAnchor | null {
  if (!isRecord(value)) return null;
  const { pageId, x, y, shapeId, shapeX, shapeY } = value;
  if (typeof pageId !== "string" || !isNumber(x) || !isNumber(y)) return null;
  const isOnShape = typeof shapeId === "string" && isNumber(shapeX) && isNumber(shapeY);
  return { pageId, x, y, ...(isOnShape && { shapeId, shapeX, shapeY }) };
}

const isNumber = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value);

/** The place in pixels from the left top corner of the canvas; null on another page. Where a shape was deleted, its pin stays. */
export function placeOf(editor: CanvasEditor, anchor: CanvasAnchor): Point | null {
  const { shapeId, shapeX = 0, shapeY = 0 } = anchor;
  const bounds = boundsOf(editor, shapeId);
  const isOnShape = shapeId !== undefined && bounds !== undefined;
  const pageId = isOnShape ? editor.getAncestorPageId(asShapeId(shapeId)) : anchor.pageId;
  if (pageId !== editor.getCurrentPageId()) return null;
  const point = isOnShape
    ? { x: bounds.x + shapeX * bounds.w, y: bounds.y + shapeY * bounds.h }
    : { x: anchor.x, y: anchor.y };
  const { x, y } = editor.pageToViewport(point);
  return { x, y };
}
