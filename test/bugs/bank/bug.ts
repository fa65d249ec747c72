/** An entry of the bug bank: what went wrong for someone, and the tests that keep it from coming back. */
export interface Bug {
  /** One sentence in the past tense: what went wrong, and for whom. Unique. */
  readonly story: string;
  /** The test file, from the repository's root. */
  readonly file: string;
  /** The titles of its tests, or of groups of them, as they stand in the file. */
  readonly titles: readonly [string, ...string[]];
}

/** True when the source has a test or a group of tests with this title, which is the first argument of a call. */
const hasTitle = (source: string, title: string): boolean =>
  source
    .split(JSON.stringify(title))
    .slice(0, -1)
    .some((before) => before.trimEnd().endsWith("("));

/** The titles of the bug that its test file, whose source this is, does not have. */
export const findMissingTitles = ({ titles }: Bug, source: string): readonly string[] =>
  titles.filter((title) => !hasTitle(source, title));
