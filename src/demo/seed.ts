/** The first content of a board: entries of stores, as the page reads them. */
const note = (x: number, y: number, text: string) => ({ x, y, text, picture: "" });
const shape = (kind: "arrow" | "box" | "oval" | "pen", tint: number, ...points: number[]) => ({
  kind,
  tint,
  points,
});

/** By store and key. The board's middle is 0, 0; keys sort in the order in which the entries are drawn, before those of times. */
export const SEED = {
  notes: {
    "00-seed": note(-330, -200, "Welcome! This board is yours for a day."),
    "01-seed": note(-104, -226, "Share the link: everyone who opens it appears here, pointer first."),
    "02-seed": note(124, -196, "Drag a note anywhere. A double click writes in it."),
    "03-seed": note(-240, 34, "Draw with the pen. Undo is yours alone: it never takes back what others did."),
  },
  shapes: {
    "00-seed": shape("box", 2, 34, 44, 322, 196),
    "01-seed": shape("arrow", 1, -30, 120, 28, 120),
    "02-seed": shape("oval", 4, 66, 76, 150, 160),
    "03-seed": shape("pen", 4, 92, 108, 92, 112),
    "04-seed": shape("pen", 4, 122, 108, 122, 112),
    "05-seed": shape("pen", 4, 88, 128, 94, 137, 102, 142, 112, 142, 120, 137, 126, 128),
    "06-seed": shape("pen", 0, 182, 96, 204, 92, 236, 97, 262, 92, 290, 95),
    "07-seed": shape("pen", 0, 182, 120, 210, 124, 240, 118, 268, 122),
    "08-seed": shape("pen", 0, 182, 146, 206, 142, 226, 147),
  },
};
