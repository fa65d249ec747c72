/** A button. While busy it ignores presses and is announced as disabled. */
import type { ComponentProps } from "react";
import { Icon, type IconName } from "./icon.tsx";

export interface ButtonProps extends ComponentProps<"button"> {
  readonly variant?: "plain" | "primary" | "quiet" | "danger";
  readonly icon?: IconName;
  readonly isBusy?: boolean;
}

export const Button = ({
  variant = "plain",
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
    className={`button ${variant} ${className}`}
    aria-disabled={isBusy || undefined}
    onClick={(event) => (isBusy ? event.preventDefault() : onClick?.(event))}
  >
    {icon && <Icon name={icon} />}
    {children}
  </button>
);
