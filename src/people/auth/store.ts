/** The only SQL that better-auth runs: rows of its models, which are tables of ours, by their fields. */
import { and, eq, gt, inArray, lt, lte, type SQL } from "drizzle-orm";
import { build, columnsOf, type Statement, statement } from "../../platform/d1.ts";
import { credentials, people, sessions } from "../table.ts";

const TABLES = { people, sessions, credentials };

/** A table of ours by the name that better-auth is told for a model. */
export type ModelName = keyof typeof TABLES;

/** Columns under their TypeScript names, as better-auth names its fields for us. */
export type Row = Readonly<Record<string, unknown>>;

/** A part of a condition, all of which must hold. */
export interface Condition {
  readonly field: string;
  readonly operator?: string | undefined;
  readonly connector?: string | undefined;
  readonly value: unknown;
}

/** Another model's rows that belong to those which are asked for. */
export interface Joined {
  readonly model: ModelName;
  readonly on: { readonly from: string; readonly to: string };
}

export const isModelName = (name: string): name is ModelName => Object.hasOwn(TABLES, name);

function columnOf(model: ModelName, field: string) {
  const column = Object.entries(TABLES[model]).find(([name]) => name === field)?.[1];
  if (column === undefined) throw new Error(`${model} has no column for ${field}`);
  return column;
}

function conditionOf(model: ModelName, { field, operator, connector, value }: Condition): SQL {
  const column = columnOf(model, field);
  if (connector === "AND") {
    if (operator === "eq") return eq(column, value);
    if (operator === "in" && Array.isArray(value)) return inArray(column, value);
    if (operator === "lt") return lt(column, value);
    if (operator === "lte") return lte(column, value);
    if (operator === "gt") return gt(column, value);
  }
  throw new Error(`A condition that nothing here asks for: ${connector} ${field} ${operator}`);
}

const whereOf = (model: ModelName, conditions: readonly Condition[]): SQL | undefined =>
  and(...conditions.map((condition) => conditionOf(model, condition)));

export const selectRows = (
  model: ModelName,
  conditions: readonly Condition[],
  limit: number,
): Statement<Row> =>
  statement(
    build.select(columnsOf(TABLES[model])).from(TABLES[model]).where(whereOf(model, conditions)).limit(limit),
  );

/** The rows that are joined to those which the conditions select, without asking for those first. */
export const selectJoinedRows = (
  model: ModelName,
  conditions: readonly Condition[],
  joined: Joined,
): Statement<Row> =>
  statement(
    build
      .select(columnsOf(TABLES[joined.model]))
      .from(TABLES[joined.model])
      .where(
        inArray(
          columnOf(joined.model, joined.on.to),
          build
            .select({ from: columnOf(model, joined.on.from) })
            .from(TABLES[model])
            .where(whereOf(model, conditions)),
        ),
      ),
  );

export const insertRow = (model: ModelName, row: Row): Statement =>
  statement(build.insert(TABLES[model]).values(row as never));

export const updateRows = (model: ModelName, conditions: readonly Condition[], changes: Row): Statement =>
  statement(build.update(TABLES[model]).set(changes).where(whereOf(model, conditions)));

export const deleteRows = (model: ModelName, conditions: readonly Condition[]): Statement =>
  statement(build.delete(TABLES[model]).where(whereOf(model, conditions)));
