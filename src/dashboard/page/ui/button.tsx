/** A button. While it is busy it takes no second press, and says so. */
import type { ComponentProps } from "react";
import { Icon, type IconName } from "./icon.tsx";

export interface ButtonProps extends ComponentProps<"button"> {
  readonly look?: "plain" | "primary" | "quiet" | "danger";
  readonly icon?: IconName;
  readonly isBusy?: boolean;
}

export const Button = ({
  look = "plain",
  icon,
  isBusy = false,
  className = "",
  children,
  onClick,
  ...rest
}: ButtonProps) => (
  <button
    type="button"
    {...rest}
    className={`button ${look} ${className}`}
    aria-disabled={isBusy || undefined}
    onClick={(event) => (isBusy ? event.preventDefault() : onClick?.(event))}
  >
    {icon && <Icon name={icon} />}
    {children}
  </button>
);
