/** The bindings of workflows and their members, read from the SDK's declarations. */
import events from "atrium/source/wire/events.ts?raw";
import things from "atrium/source/wire/resources.ts?raw";
import bindings from "atrium/source/workflow/index.ts?raw";
import { type Declaration, type Member, readDeclarations } from "./declarations.ts";

const DECLARATIONS: ReadonlyMap<string, Declaration> = new Map(
  [events, things, bindings].flatMap((source) => [...readDeclarations(source)]),
);

const membersOf = (name: string): readonly Member[] => DECLARATIONS.get(name)?.members ?? [];

/** The members of all events together, because the editor does not know which event it will be. */
const EVENT: readonly Member[] = [
  ...new Map(
    [...DECLARATIONS.values()]
      .filter(({ base }) => base === "Common")
      .flatMap(({ members }) => [...membersOf("Common"), ...members])
      .map((member) => [member.name, member]),
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
