/** The SQL by which the operator turns off a second factor that a person has lost. */
import { type Statement, statement } from "../../platform/d1/d1.ts";

/** Deletes a person's second factor with its recovery codes, and returns a row if there was one. */
export const deleteFactorOf = (personId: string): Statement<{ personId: string }> =>
  statement`DELETE FROM second_factors WHERE person_id = ${personId} RETURNING person_id AS personId`;
