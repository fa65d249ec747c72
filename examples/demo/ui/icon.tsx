/** Icons: lines in a square of 20 units. */
const LINES = {
  select: "M5 3l11 6-5 1.5L9 16z",
  hand: "M6 11V6.2a1.2 1.2 0 0 1 2.4 0V10 4.2a1.2 1.2 0 0 1 2.4 0V10 5.2a1.2 1.2 0 0 1 2.4 0V11 7.7a1.2 1.2 0 0 1 2.4 0V12c0 3-2 5-4.8 5-2.5 0-3.6-1.3-4.9-3.6L3.6 10.6c-.7-1.3.9-2.2 1.7-1.2z",
  pen: "M4 16l1-4 8.5-8.5a2 2 0 0 1 3 3L8 15zM12 5l3 3",
  box: "M4 5.5h12v9H4z",
  oval: "M10 4.5c4 0 6.5 2.4 6.5 5.5S14 15.5 10 15.5 3.5 13.1 3.5 10 6 4.5 10 4.5z",
  arrow: "M4 16L16 4M8.5 4H16v7.5",
  note: "M4 4h12v7.5L11.5 16H4zM16 11.5h-4.5V16",
  eraser: "M8 16l-4-4 8-8 5 5-7 7zM8 8l5 5M8 16h8",
  undo: "M8 4L4 8l4 4M4 8h8a4 4 0 0 1 0 8h-3",
  redo: "M12 4l4 4-4 4M16 8H8a4 4 0 0 0 0 8h3",
  fit: "M4 8V4h4M12 4h4v4M16 12v4h-4M8 16H4v-4",
  down: "M7 8.5l3 3 3-3",
  smile: "M10 3a7 7 0 1 1 0 14 7 7 0 0 1 0-14zM7.5 8v.5M12.5 8v.5M6.8 11.5c1.6 2.6 4.8 2.6 6.4 0",
  comments: "M4 4h12v9H9l-4 3v-3H4z",
  history: "M4 10a6 6 0 1 1 2 4.5M3 7l1 3 3-1M10 7v3.5l2.5 1.5",
  network: "M3 7h13l-3-3M17 13H4l3 3",
  more: "M5 9.5a.5.5 0 1 1 0 1 .5.5 0 0 1 0-1zM10 9.5a.5.5 0 1 1 0 1 .5.5 0 0 1 0-1zM15 9.5a.5.5 0 1 1 0 1 .5.5 0 0 1 0-1z",
  code: "M7 6l-4 4 4 4M13 6l4 4-4 4",
} as const;

export type IconName = keyof typeof LINES;

export const Icon = ({ name }: { readonly name: IconName }) => (
  <svg viewBox="0 0 20 20" aria-hidden="true">
    <path d={LINES[name]} />
  </svg>
);
