/** The bindings of workflows and their members, read from the SDK's declarations. */
import declarations from "atrium/workflow/declarations";
import { type Member, readDeclarations } from "./declarations.ts";

const DECLARATIONS = readDeclarations(declarations);

const membersOf = (name: string): readonly Member[] => DECLARATIONS.get(name) ?? [];

/** The members of all events together, because the editor does not know which event it will be. */
const EVENT: readonly Member[] = [
  ...new Map(
    [...DECLARATIONS]
      .filter(([name]) => name.endsWith("Event"))
      .flatMap(([, members]) => members.map((member) => [member.name, member])),
  ).values(),
];

/** The members at a path of names; for an empty path, the bindings themselves. */
export function membersAfter(names: readonly string[]): readonly Member[] {
  let members = membersOf("Bindings");
  for (const name of names) {
    const [type = ""] = members.find((member) => member.name === name)?.type.split(/[<\s]/) ?? [];
    members = type === "EventOf" ? EVENT : membersOf(type);
  }
  return members;
}
