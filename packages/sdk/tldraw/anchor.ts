/** The place of a thread on a canvas: a point of a page, or of a shape that moves. */
import { isRecord } from "../core/json.ts";

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Size {
  readonly w: number;
  readonly h: number;
}

type Bounds = Point & Size;

/**
 * A canvas that comments are pinned to: its camera, a hit test and the bounds of its shapes. tldraw's `Editor` is one.
 * `never` stands for its IDs of shapes, which are texts of a type of its own: yours may take a `string`.
 */
export interface CanvasEditor {
  /** Names the page that is shown; a canvas without pages has one name. */
  getCurrentPageId(): string;
  /** The place of the canvas in the window, and its size, in pixels. */
  getViewportScreenBounds(): Bounds;
  /** The point of the page under a point of the window. */
  screenToPage(point: Point): Point;
  /** The place of a point of the page, in pixels from the left top corner of the canvas. */
  pageToViewport(point: Point): Point;
  /** The foremost shape at a point of the page. */
  getShapeAtPoint(
    point: Point,
    options: { readonly hitInside: boolean },
  ): { readonly id: string } | undefined;
  getShapePageBounds(shapeId: never): Bounds | undefined;
  /** Adds a listener for whatever moves or shows a pin: the camera, a shape, the page and the size of the canvas. */
  on(event: "change", listener: () => void): unknown;
  off(event: "change", listener: () => void): unknown;
  /** The page that a shape is on now; the one where the comment was made by default. */
  getAncestorPageId?(shapeId: never): string | undefined;
  /** A comment that is placed by keyboard goes to the first of these. */
  getSelectedShapeIds?(): readonly string[];
  /** Keeps a key that was pressed in a pin from the canvas's own listeners. */
  markEventAsHandled?(event: { readonly nativeEvent: Event }): void;
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

/** The anchor without a pointer: the right top corner of what is selected, if it is in view, or the center. */
export function anchorByKey(editor: CanvasEditor): CanvasAnchor {
  const { x, y, w, h } = editor.getViewportScreenBounds();
  const shapeId = editor.getSelectedShapeIds?.()[0];
  const bounds = boundsOf(editor, shapeId);
  if (shapeId !== undefined && bounds !== undefined) {
    const corner = { x: bounds.x + bounds.w, y: bounds.y };
    const anchor = { pageId: editor.getCurrentPageId(), ...corner, shapeId, shapeX: 1, shapeY: 0 };
    if (isWithin(placeOf(editor, anchor), { w, h })) return anchor;
  }
  return anchorAt(editor, editor.screenToPage({ x: x + w / 2, y: y + h / 2 }));
}

/** Whether a place on the canvas is in view. */
export const isWithin = (place: Point | null, { w, h }: Size): boolean =>
  place !== null && place.x >= 0 && place.y >= 0 && place.x <= w && place.y <= h;

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
  const pageId = isOnShape ? editor.getAncestorPageId?.(asShapeId(shapeId)) : undefined;
  if ((pageId ?? anchor.pageId) !== editor.getCurrentPageId()) return null;
  const point = isOnShape
    ? { x: bounds.x + shapeX * bounds.w, y: bounds.y + shapeY * bounds.h }
    : { x: anchor.x, y: anchor.y };
  const { x, y } = editor.pageToViewport(point);
  return { x, y };
}
