/** What is on a board when its first visitor comes: entries of stores, as the page reads them. */

const note = (x: number, y: number, text: string) => ({ x, y, text, picture: "" });
const shape = (kind: string, tint: number, ...points: number[]) => ({ kind, tint, points });

/** By store and key. The board's middle is 0, 0; keys sort in the order in which the entries are drawn. */
export const SEED = {
  notes: {
    "0-seed": note(-330, -200, "Welcome! This board is yours for a day."),
    "1-seed": note(-104, -226, "Press Share and scan the code with your phone: its finger appears here."),
    "2-seed": note(124, -196, "Drag a note by its upper edge, or type into it."),
    "3-seed": note(-240, 34, "Draw with the pen. Undo is yours alone: it never takes back what others did."),
  },
  shapes: {
    "0-seed": shape("box", 2, 34, 44, 322, 196),
    "1-seed": shape("arrow", 1, -30, 120, 28, 120),
    "2-seed": shape("oval", 4, 66, 76, 150, 160),
    "3-seed": shape("pen", 4, 92, 108, 92, 112),
    "4-seed": shape("pen", 4, 122, 108, 122, 112),
    "5-seed": shape("pen", 4, 88, 128, 94, 137, 102, 142, 112, 142, 120, 137, 126, 128),
    "6-seed": shape("pen", 0, 182, 96, 204, 92, 236, 97, 262, 92, 290, 95),
    "7-seed": shape("pen", 0, 182, 120, 210, 124, 240, 118, 268, 122),
    "8-seed": shape("pen", 0, 182, 146, 206, 142, 226, 147),
  },
};
