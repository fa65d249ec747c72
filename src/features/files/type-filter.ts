/** A filter of files by their type, as a query names it. */
import * as z from "zod";
import { parseTypeFilter } from "./storage/media-type.ts";

/** All filters are one parameter of the statement, so this bounds its work, not its shape. */
export const MAX_TYPE_FILTERS = 100;

export const TypeFilter = z
  .string()
  .max(255)
  .transform((value, context) => {
    const filter = parseTypeFilter(value);
    if (filter === null)
      context.addIssue("must be a type such as image/png, or a category such as image/ or image/*");
    return filter ?? z.NEVER;
  })
  .meta({ override: { type: "string", maxLength: 255, example: "image/" } });
