/** Steps that fast-check generates: a type or a kind, and fields, with a weight. */
import fc from "fast-check";

type Arbitraries<Fields> = { readonly [Name in keyof Fields]: fc.Arbitrary<Fields[Name]> };

const stepsNamedBy =
  <Name extends string>(name: Name) =>
  <const Value extends string, Fields extends object = object>(
    weight: number,
    values: readonly Value[],
    fields?: Arbitraries<Fields>,
  ) => ({
    weight,
    arbitrary: fc.record({ [name]: fc.constantFrom(...values), ...fields }) as unknown as fc.Arbitrary<
      { readonly [Key in Name]: Value } & Fields
    >,
  });

/** A step of one of these types. */
export const ofType = stepsNamedBy("type");
/** A step of one of these kinds. */
export const ofKind = stepsNamedBy("kind");
