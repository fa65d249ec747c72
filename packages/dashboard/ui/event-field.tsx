/** The field of events: presets, a search, and boxes in groups. */

import { useState } from "react";
import { EVENTS } from "../data/events.ts";
import { Button, Icon } from "./button.tsx";
import { type EventOf, findEvents, presetsOf } from "./event-choice.ts";
import { Choice } from "./fields.tsx";

interface EventChoiceProps<Name extends EventOf> {
  readonly names: readonly Name[];
  readonly chosen: readonly Name[];
  readonly onChange: (chosen: readonly Name[]) => void;
}

export function EventChoice<Name extends EventOf>({ names, chosen, onChange }: EventChoiceProps<Name>) {
  const [search, setSearch] = useState("");
  const choose = (some: readonly Name[], isOn: boolean) =>
    onChange(names.filter((one) => (some.includes(one) ? isOn : chosen.includes(one))));
  const hasAll = (some: readonly Name[]) => some.every((name) => chosen.includes(name));
  const found = findEvents(names, search);
  return (
    <fieldset className="field events">
      <legend>
        Events <span className="soft">{chosen.length === 0 ? "" : `${chosen.length} chosen`}</span>
      </legend>
      <div className="presets">
        {presetsOf(names).map(({ title, names: some }) => (
          <Button
            key={title}
            className="preset"
            aria-pressed={hasAll(some)}
            onClick={() => choose(some, !hasAll(some))}
          >
            {title}
          </Button>
        ))}
      </div>
      <div className="search">
        <Icon name="search" />
        <input
          type="search"
          className="input"
          aria-label="Search events"
          placeholder="Search events"
          autoComplete="off"
          onChange={(event) => setSearch(event.currentTarget.value)}
          onKeyDown={(event) => event.key === "Enter" && event.preventDefault()}
        />
      </div>
      <div className="event-list">
        {found.map(({ title, names: some }) => (
          <fieldset key={title} className="event-group" aria-label={title}>
            <Choice
              isOn={hasAll(some)}
              isPartly={some.some((name) => chosen.includes(name))}
              onChange={(isOn) => choose(some, isOn)}
            >
              <strong>{title}</strong>
            </Choice>
            {some.map((name) => (
              <Choice key={name} isOn={chosen.includes(name)} onChange={(isOn) => choose([name], isOn)}>
                <span>
                  <code>{name}</code> <span className="soft">{EVENTS[name]}</span>
                </span>
              </Choice>
            ))}
          </fieldset>
        ))}
        {found.length === 0 && (
          <p className="soft" role="status">
            No event matches.
          </p>
        )}
      </div>
    </fieldset>
  );
}
