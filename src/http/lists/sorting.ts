/** The query parameter `sort`: by which of its fields a list is ordered, and in which direction. */
import * as z from "zod";
import type { ListPosition, Order } from "../../platform/d1/d1.ts";
import type { Module } from "../../platform/error-codes.ts";
import { AppError } from "../../platform/errors.ts";

/** How a list can be ordered. */
export interface Sorting {
  /** The parameter, for the query's schema. */
  readonly parameter: { readonly sort: z.ZodOptional<z.ZodString> };
  /**
   * The order of the page that a parsed query selects; none means newest first. A cursor has the order of its page.
   * BAD_REQUEST when the query names another one, or the cursor is of another list.
   */
  orderOf(query: {
    readonly sort?: string | undefined;
    readonly after?: ListPosition | undefined;
  }): Order | undefined;
}

/** An order as queries and cursors name it. */
export const sortOf = ({ by, descending }: Order): string => (descending ? `-${by}` : by);

const parseSort = (sort: string): Order => ({
  by: sort.replace("-", ""),
  descending: sort.startsWith("-"),
});

/** A list that can be ordered by these fields; `newest` is the one that it is ordered by, newest first, without `sort`. */
export function sorting(module: Module, newest: string, ...others: readonly string[]): Sorting {
  const fields = [newest, ...others];
  const sorts = fields.flatMap((field) => [field, `-${field}`]);
  const sort = z
    .string()
    .refine((value) => sorts.includes(value), `must be one of ${sorts.join(", ")}`)
    .optional()
    .meta({
      description: `The order: ${fields.map((field) => `\`${field}\``).join(" or ")}, descending with \`-\` in front. Items that are equal in it are ordered by ID. A page that follows a \`cursor\` has the cursor's order.`,
      override: { type: "string", enum: sorts, default: `-${newest}` },
    });
  return {
    parameter: { sort },
    orderOf({ sort, after }) {
      const named = after === undefined ? sort : after.sort;
      const isOther = after !== undefined && sort !== undefined && sort !== (after.sort ?? `-${newest}`);
      if (isOther || (named !== undefined && !sorts.includes(named))) {
        throw new AppError(
          module,
          "BAD_REQUEST",
          "after must be the `cursor` of a page with the same sort; leave it out to start at the first page",
        );
      }
      return named === undefined ? undefined : parseSort(named);
    },
  };
}
