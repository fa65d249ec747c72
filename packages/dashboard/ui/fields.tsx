/** Fields of forms and filters of lists. */

import { isComposing } from "atrium/internal/input-method";
import type { Usage, WebhookEventName } from "atrium/server";
import {
  type ChangeEvent,
  type ComponentProps,
  createContext,
  type ElementType,
  type ReactNode,
  useContext,
  useEffect,
  useId,
  useRef,
} from "react";
import { EVENTS } from "../data/events.ts";
import type { Filters } from "../data/filters.ts";
import { Icon } from "./button.tsx";

/** A labeled text field. */
interface TextFieldProps
  extends Omit<ComponentProps<"input">, "ref" | "defaultValue" | "value" | "onChange"> {
  readonly label: string;
  readonly name: string;
  readonly hint?: ReactNode;
  readonly defaultValue?: string;
  /** Together with `onChange`. */
  readonly value?: string;
  readonly onChange?: (event: ChangeEvent<HTMLInputElement>) => void;
  /** The lines of a field for several. */
  readonly rows?: number;
}

/** The problems of a form's fields, by their names. */
export const FieldProblems = createContext<Readonly<Record<string, string>>>({});

const controlOf = (rows: number | undefined): ElementType => (rows === undefined ? "input" : "textarea");

export function TextField({ label, hint, name, rows, ...input }: TextFieldProps) {
  const id = useId();
  const problem = useContext(FieldProblems)[name];
  const Control = controlOf(rows);
  const about = [hint && `${id}-hint`, problem && `${id}-problem`].filter(Boolean).join(" ");
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <Control
        id={id}
        name={name}
        className={rows === undefined ? "input" : "input area"}
        autoComplete="off"
        aria-describedby={about || undefined}
        aria-invalid={problem !== undefined || undefined}
        {...(rows !== undefined && { spellCheck: false, rows })}
        {...input}
      />
      {hint && (
        <p className="soft small" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {problem && (
        <p className="field-error" id={`${id}-problem`}>
          {problem}
        </p>
      )}
    </div>
  );
}

export const NameField = (props: Partial<TextFieldProps>) => (
  <TextField label="Name" name="name" required maxLength={255} {...props} />
);

/** A labeled native select. */
interface SelectFieldProps extends ComponentProps<"select"> {
  readonly label: string;
  /** The values, with their labels where these differ. */
  readonly options: readonly (string | readonly [value: string, label: string])[];
  readonly hint?: ReactNode;
  /** Hides the label except from screen readers. */
  readonly isLabelHidden?: boolean;
}

export function SelectField({ label, options, hint, isLabelHidden = false, ...select }: SelectFieldProps) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id} className={isLabelHidden ? "hidden" : undefined}>
        {label}
      </label>
      <select id={id} className="input" aria-describedby={hint ? `${id}-hint` : undefined} {...select}>
        {options.map((option) => {
          const [value, text] = typeof option === "string" ? [option, option] : option;
          return (
            <option key={value} value={value}>
              {text}
            </option>
          );
        })}
      </select>
      {hint && (
        <p className="soft small" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

/** A checkbox with its label. */
interface ChoiceProps {
  readonly isOn: boolean;
  /** True for a box of several items of which some are chosen. */
  readonly isPartly?: boolean;
  /** The accessible name, where the content shows less. */
  readonly label?: string;
  readonly onChange: (isOn: boolean) => void;
  readonly children: ReactNode;
}

export const Choice = ({ isOn, isPartly = false, label, onChange, children }: ChoiceProps) => (
  <label className="choice">
    <input
      type="checkbox"
      className="select-box"
      aria-label={label}
      checked={isOn}
      ref={(box) => {
        if (box !== null) box.indeterminate = isPartly && !isOn;
      }}
      onChange={(event) => onChange(event.currentTarget.checked)}
    />
    {children}
  </label>
);

/** Checkboxes to choose one or more events, in a row for each resource, whose box chooses all of them. */
interface EventChoiceProps<Name extends WebhookEventName> {
  readonly names: readonly Name[];
  readonly chosen: readonly Name[];
  readonly onChange: (chosen: readonly Name[]) => void;
}

export function EventChoice<Name extends WebhookEventName>({
  names,
  chosen,
  onChange,
}: EventChoiceProps<Name>) {
  const choose = (some: readonly Name[], isOn: boolean) =>
    onChange(names.filter((one) => (some.includes(one) ? isOn : chosen.includes(one))));
  return (
    <fieldset className="field choices">
      <legend>Events</legend>
      {[...Map.groupBy(names, resourceOf)].map(([resource, ofResource]) => (
        <div key={resource} className="event-row">
          <Choice
            isOn={ofResource.every((name) => chosen.includes(name))}
            isPartly={ofResource.some((name) => chosen.includes(name))}
            onChange={(isOn) => choose(ofResource, isOn)}
          >
            <strong>{resource}</strong>
          </Choice>
          <div>
            {ofResource.map((name) => (
              <Choice
                key={name}
                isOn={chosen.includes(name)}
                label={`${name}: ${EVENTS[name]}`}
                onChange={(isOn) => choose([name], isOn)}
              >
                <span title={EVENTS[name]}>{name.split(".").at(-1)}</span>
              </Choice>
            ))}
          </div>
        </div>
      ))}
    </fieldset>
  );
}

/** Such as "participant" for `participant.joined`. */
const resourceOf = (name: string): string => name.split(".")[0] ?? name;

/** The range of metrics, kept in the URL. */
type Range = Usage["range"];

const NAME = "range";
const LONGER_OR_SHORTER = { "1h": "Last hour", "7d": "Last 7 days", "30d": "Last 30 days" };

/** The range that the person has chosen; a day if none. */
export function rangeOf({ get }: Pick<Filters, "get">): Range {
  const value = get(NAME);
  return value === "1h" || value === "7d" || value === "30d" ? value : "24h";
}

export const RangeSelect = ({ filters }: { readonly filters: Pick<Filters, "get" | "set"> }) => (
  <FilterSelect label="Time" filters={filters} name={NAME} all="Last 24 hours" options={LONGER_OR_SHORTER} />
);

/** Narrows a list by one of a few values. */
interface FilterSelectProps {
  /** The accessible name; the options show it to everyone else. */
  readonly label: string;
  readonly filters: Pick<Filters, "get" | "set">;
  /** The filter that it sets. */
  readonly name: string;
  /** The option for no filter, such as "All types". */
  readonly all: string;
  /** The labels of the other options by their values. */
  readonly options: Readonly<Record<string, string>>;
}

export const FilterSelect = ({ label, filters, name, all, options }: FilterSelectProps) => (
  <SelectField
    label={label}
    isLabelHidden
    value={filters.get(name)}
    onChange={(event) => filters.set(name, event.currentTarget.value)}
    options={[["", all], ...Object.entries(options)]}
  />
);

/** A search field, applied shortly after the last key press, or by Enter where a search is costly. */
const DEBOUNCE_MS = 250;

interface SearchBoxProps {
  readonly label: string;
  readonly initial: string;
  readonly onSearch: (text: string) => void;
  /** True where it is applied by Enter, and when it is emptied. */
  readonly isByEnter?: boolean;
}

export function SearchBox({ label, initial, onSearch, isByEnter = false }: SearchBoxProps) {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const input = useRef<HTMLInputElement>(null);
  // The search can be cleared elsewhere on the page.
  useEffect(() => {
    if (input.current && input.current !== document.activeElement) input.current.value = initial;
  }, [initial]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const searchLater = (text: string) => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => onSearch(text), DEBOUNCE_MS);
  };
  return (
    <div className="search">
      <Icon name="search" />
      <input
        ref={input}
        type="search"
        className="input"
        aria-label={label}
        placeholder={label}
        maxLength={256}
        defaultValue={initial}
        data-shortcut="search"
        onChange={({ currentTarget: { value } }) => (!isByEnter || value === "") && searchLater(value)}
        onKeyDown={({ key, currentTarget, nativeEvent }) =>
          key === "Enter" && !isComposing(nativeEvent) && onSearch(currentTarget.value)
        }
      />
    </div>
  );
}

interface ListFiltersProps {
  /** The label of the search. */
  readonly label: string;
  readonly filters: Filters;
  /** Further filters. */
  readonly children?: ReactNode;
}

/** The search of a list with its other filters. */
export const ListFilters = ({ label, filters, children }: ListFiltersProps) => (
  <div className="filters">
    <SearchBox label={label} initial={filters.search} onSearch={filters.searchFor} />
    {children}
  </div>
);

/** The days between which the items of a list were created. */
export const CreatedFilter = ({ filters }: Pick<ListFiltersProps, "filters">) => (
  <>
    <DateFilter label="Created from" filters={filters} name="from" />
    <DateFilter label="to" filters={filters} name="to" />
  </>
);

/** A date input that bounds a list by a day such as `2026-01-31`. */
export const DateFilter = ({
  label,
  filters,
  name,
}: Pick<FilterSelectProps, "label" | "filters" | "name">) => (
  <label className="date-filter">
    <span className="soft">{label}</span>
    <input
      type="date"
      className="input"
      defaultValue={filters.get(name)}
      onChange={(event) => filters.set(name, event.currentTarget.value)}
    />
  </label>
);
