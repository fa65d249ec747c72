/** A search field, applied shortly after the last key press, or by Enter where a search is costly. */
import { useEffect, useRef } from "react";
import { Icon } from "./icon.tsx";

const DEBOUNCE_MS = 250;

export interface SearchBoxProps {
  readonly label: string;
  readonly initial: string;
  readonly onSearch: (text: string) => void;
  /** True where it is applied by Enter, and when it is emptied. */
  readonly isByEnter?: boolean;
}

export function SearchBox({ label, initial, onSearch, isByEnter = false }: SearchBoxProps) {
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
        onChange={({ currentTarget: { value } }) => (!isByEnter || value === "") && searchLater(value)}
        onKeyDown={({ key, currentTarget }) => key === "Enter" && onSearch(currentTarget.value)}
      />
    </div>
  );
}
