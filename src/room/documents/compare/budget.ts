/** Bounds what a comparison of two versions answers. */
import { AppError } from "../../../platform/errors.ts";
import type { Author } from "../../port/document-history.ts";

/** Characters of JSON. */
const MAX_ANSWER_LENGTH = 8 * 1024 * 1024;
/** What surrounds a difference, and an author. */
const FRAME_LENGTH = 64;

export class Budget {
  #left = MAX_ANSWER_LENGTH;

  /** Counts a part of the answer. CONFLICT when it becomes too large. */
  spend(length: number, authors: readonly Author[]): void {
    this.#left -= length + FRAME_LENGTH * (1 + authors.length);
    if (this.#left < 0)
      throw new AppError("Rooms", "CONFLICT", "The versions differ in too much; compare closer ones");
  }
}
