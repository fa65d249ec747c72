/** Records that were stored as JSON, perhaps by an earlier version. Pure. */

/** A default for each field of a record that may be null, and for others as needed. */
type Defaults<Row> = Partial<Row> & {
  readonly [Field in keyof Row as null extends Row[Field] ? Field : never]-?: Row[Field];
};

/** A record that was stored as JSON: fields that an earlier version did not write have their defaults. */
export const parseStored = <Row extends object>(json: string, defaults: Defaults<Row>): Row =>
  ({ ...defaults, ...(JSON.parse(json) as Partial<Row>) }) as Row;
