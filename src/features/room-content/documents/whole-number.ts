/** A whole number in a path or a query. */
import * as z from "zod";

export const wholeNumber = z
  .string()
  .refine((value) => /^[0-9]{1,15}$/.test(value), "must be a whole number")
  .transform(Number);
