// Numbers for people where the page computes them: what-if. All other texts come from C++
// (analysis/table/quantities.cpp).
const prefixes =
    [[1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "u"], [1e-9, "n"]];

/// The factor of an SI prefix; undefined for any other text.
export const factorOf = (prefix) => prefixes.find(([, letter]) => letter === prefix)?.[0];

/// Significant digits without an exponent.
export function plain(value, digits = 3) {
  if (!Number.isFinite(value)) return "-";
  if (value === 0) return "0";
  return value.toFixed(Math.max(0, digits - 1 - Math.floor(Math.log10(Math.abs(value)))));
}

export function si(value, unit) {
  if (!Number.isFinite(value)) return "-";
  const [factor, letter] = prefixes.find(([size]) => Math.abs(value) * (1 + 5e-4) >= size) ?? [1, ""];
  return `${plain(value / factor)} ${letter}${unit}`;
}

export function duration(seconds) {
  const whole = Math.round(seconds), minutes = Math.round(seconds / 60);
  const of60 = (many) => `${many % 60}`.padStart(2, "0");
  if (whole >= 7200) return `${Math.floor(minutes / 60)} h ${of60(minutes)} min`;
  if (seconds >= 120) return `${Math.floor(whole / 60)} min ${of60(whole)} s`;
  return si(seconds, "s");
}

export const percent = (share) => `${(100 * share).toFixed(Math.abs(share) < 0.0995 ? 1 : 0)}%`;

export const threads = (count) => (count > 0 ? `, ${count} thread${count === 1 ? "" : "s"}` : "");
