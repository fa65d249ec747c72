/** The limits of one room: the fields of its forms, and a line beside its name. */
import type { Room, RoomInput } from "atrium/server";
import { TextField } from "../ui/fields.tsx";
import type { Values } from "../ui/form.tsx";
import { formatSize } from "../ui/time.tsx";

type Limits = NonNullable<RoomInput["limits"]>;

const MEBIBYTE = 1024 * 1024;

/** Sizes are in MiB here. */
const FIELDS = [
  { name: "users", shown: "users", label: "Users", unit: 1 },
  { name: "storeBytes", shown: "store_bytes", label: "Stores, in MiB", unit: MEBIBYTE },
  { name: "documentBytes", shown: "document_bytes", label: "Documents, in MiB", unit: MEBIBYTE },
  { name: "commentBytes", shown: "comment_bytes", label: "Comments, in MiB", unit: MEBIBYTE },
  { name: "files", shown: "files", label: "Files", unit: 1 },
  { name: "fileBytes", shown: "file_bytes", label: "Files, in MiB", unit: MEBIBYTE },
] as const satisfies readonly {
  name: keyof Limits;
  shown: keyof Room["limits"];
  label: string;
  unit: number;
}[];

const textOf = (limit: number | null | undefined, unit: number): string =>
  limit == null ? "" : String(limit / unit);

/** The fields of a room's limits, which {@link limitsOf} reads. */
export const LimitFields = ({ of }: { readonly of?: Room }) => (
  <details>
    <summary>Limits</summary>
    <p className="soft small">Optional. Above a limit, nothing is added; everything that is there stays.</p>
    {FIELDS.map(({ name, shown, label, unit }) => (
      <TextField
        key={name}
        label={label}
        name={name}
        type="number"
        min={unit === 1 ? 1 : 0}
        step={unit === 1 ? 1 : "any"}
        defaultValue={textOf(of?.limits[shown], unit)}
      />
    ))}
  </details>
);

/** The limits that a person has changed. */
export function limitsOf(values: Values, of?: Room): { readonly limits?: Limits } {
  const changed = FIELDS.flatMap(({ name, shown, unit }) => {
    const text = values[name] ?? "";
    if (text === textOf(of?.limits[shown], unit)) return [];
    return [[name, text === "" ? null : Math.round(Number(text) * unit)] as const];
  });
  return changed.length === 0 ? {} : { limits: Object.fromEntries(changed) };
}

/** All limits of a room, as an update sets them. */
export const allLimitsOf = ({ limits }: Room): Limits =>
  Object.fromEntries(FIELDS.map(({ name, shown }) => [name, limits[shown]]));

/** Such as "At most 5 users, files of 50 MiB"; nothing without limits. */
export function LimitsLine({ of: { limits } }: { readonly of: Room }) {
  const parts = FIELDS.flatMap(({ shown, unit }) => {
    const limit = limits[shown];
    if (limit === null) return [];
    if (unit === 1) return [`${limit.toLocaleString("en")} ${limit === 1 ? shown.slice(0, -1) : shown}`];
    return [`${shown.replace("_bytes", "s")} of ${formatSize(limit)}`];
  });
  if (parts.length === 0) return null;
  return (
    <details className="limits soft">
      <summary>Limits</summary>
      At most {parts.join(", ")}
    </details>
  );
}
