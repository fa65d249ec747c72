/** A search field, applied shortly after the last key press. */
import { useEffect, useRef } from "react";
import { Icon } from "./icon.tsx";

const DEBOUNCE_MS = 250;

export interface SearchBoxProps {
  readonly label: string;
  readonly initial: string;
  readonly onSearch: (text: string) => void;
}

export function SearchBox({ label, initial, onSearch }: SearchBoxProps) {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const searchLater = (text: string) => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => onSearch(text), DEBOUNCE_MS);
  };
  return (
    <div className="search">
      <Icon name="search" />
      <input
        type="search"
        className="input"
        aria-label={label}
        placeholder={label}
        maxLength={256}
        defaultValue={initial}
        data-shortcut="search"
        onChange={(event) => searchLater(event.currentTarget.value)}
      />
    </div>
  );
}
