/** People as round pictures with their initials, in their colors. */
import { colorOfId } from "@atrium/contract/person-colors.ts";
import { Monogram } from "../ui/button.tsx";

/** The color that a user shows, else one that is always the same for the ID. */
export function colorOf(id: string, state?: Readonly<Record<string, unknown>>): string {
  const shown = state?.color;
  return typeof shown === "string" ? shown : colorOfId(id);
}

interface Person {
  readonly id: string;
  readonly name: string;
}

export const Face = ({ id, name }: Person) => (
  <span className="face" style={{ borderColor: colorOf(id) }} title={name}>
    <Monogram name={name} isRound />
  </span>
);

interface FacesProps {
  readonly people: readonly Person[];
  /** With those who are not named. */
  readonly total: number;
}

/** The first of several people, and the number of the others. */
export const Faces = ({ people, total }: FacesProps) => (
  <span className="faces">
    {people.map((person) => (
      <Face key={person.id} {...person} />
    ))}
    {total > people.length && <span className="soft small">+{total - people.length}</span>}
    <span className="hidden">{people.map(({ name }) => name).join(", ")}</span>
  </span>
);
