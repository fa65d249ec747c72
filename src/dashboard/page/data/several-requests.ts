/** Requests for several rows of a list: a few at a time, or one for all where the API has it. */
import { AtriumError } from "atrium/server";
import { actOnSeveral, type Outcome, type Progress, toError } from "./act-on-several.ts";
import { isUnreachable, noteResult } from "./connection.ts";

/** What would fail for every other row too: the connection is gone, or the sign-in session has ended. */
const isGeneral = (error: Error): boolean =>
  isUnreachable(error) || (error instanceof AtriumError && error.code === "UNAUTHORIZED");

/** Makes a request for each row; a connection that is lost meanwhile is noticed as everywhere. */
export const oneByOne =
  <Item>(request: (item: Item) => Promise<unknown>) =>
  (items: readonly Item[], progress: Progress): Promise<Outcome<Item>> => {
    const act = async (item: Item) => {
      try {
        await request(item);
        noteResult(null);
      } catch (error) {
        noteResult(error);
        throw error;
      }
    };
    return actOnSeveral(items, act, isGeneral, progress);
  };

/** Makes one request for all rows; it answers with why some of them were refused, by their IDs. */
export const allAtOnce =
  <Item>(
    request: (items: readonly Item[]) => Promise<ReadonlyMap<string, Error>>,
    idOf: (item: Item) => string,
  ) =>
  async (items: readonly Item[]): Promise<Outcome<Item>> => {
    const result = await request(items).catch((error: unknown) => toError(error));
    noteResult(result instanceof Error ? result : null);
    const reasonOf = (item: Item) => (result instanceof Error ? result : result.get(idOf(item)));
    return {
      done: items.filter((item) => reasonOf(item) === undefined),
      refused: items.flatMap((item) => {
        const error = reasonOf(item);
        return error === undefined ? [] : [{ item, error }];
      }),
      left: [],
    };
  };
