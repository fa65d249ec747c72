/** Where among others a piece belongs that was inserted in the same place as they were: Yjs' rule, on which all clients agree. */
import { NONE, type Pieces } from "./pieces.ts";

/** The piece after which it belongs; {@link NONE} for the front of its list, which begins with `head`. */
export function placeOf(pieces: Pieces, piece: number, head: number): number {
  const { origin, rightOrigin, next } = pieces;
  const [left, right] = [origin[piece] ?? NONE, rightOrigin[piece] ?? NONE];
  let other = (left === NONE ? head : next[left]) ?? NONE;
  if (other === right || other === NONE) return left;
  let place = left;
  const passed = new Set<number>();
  const disputed = new Set<number>();
  for (; other !== NONE && other !== right; other = next[other] ?? NONE) {
    passed.add(other);
    disputed.add(other);
    const from = origin[other] ?? NONE;
    if (from === left) {
      if (pieces.clientOf(other) < pieces.clientOf(piece)) {
        place = other;
        disputed.clear();
      } else if (rightOrigin[other] === right) break;
    } else if (passed.has(from)) {
      if (!disputed.has(from)) {
        place = other;
        disputed.clear();
      }
    } else break;
  }
  return place;
}
