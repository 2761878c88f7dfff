// What the page can do beyond being read: compare two systems, sort, filter and copy tables. It is whole without this.
"use strict";
(() => {
  const make = (tag, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };
  // Blanks are copied as they stand, those that keep a line together as any other; line breaks are those of the page's source.
  const plain = (words) => words.replace(/\s*\n\s*/g, " ").replace(/[\u00a0\u202f]/g, " ").trim();
  // Negative numbers have a true minus where they are read, and a hyphen where they are copied or looked for.
  const withMinus = (words) => words.replace(/((?<![\p{L}\p{N}_-])--?\p{L}[\p{L}\p{N}_-]*[ =])-(?=\.?\d)|(?<![\p{L}\p{N}_.\-–)])-(?=\.?\d)/gu, (all, option) => (option ? all : "−"));
  const withHyphen = (words) => words.replace(/−(?=\.?\d)/g, "-");
  const isNumber = (cell) => cell.tagName === "TD" && !cell.classList.contains("t");
  const isSaid = (cell) => cell.tagName === "TD" && (/^[[(]/.test(cell.textContent) || plain(cell.textContent).split(" ").length > 3); // and no name
  const text = (cell) => (isNumber(cell) || isSaid(cell) ? withHyphen(plain(cell.textContent)) : plain(cell.textContent));
  const rowsOf = (table) => [...table.tBodies[0].rows];
  // A list of facts has no caption that would explain what heads of tables are short for.
  const IN_WORDS = { se: "standard error", m: "units that differ", MDE: "minimum detectable effect" };
  const headsOf = (table) => [...table.tHead.rows[0].cells].map((cell) => cell.dataset.head);
  const say = make("p", { className: "said" });
  say.setAttribute("role", "status");
  document.body.append(say);

  const copy = async (words, what) => {
    try {
      await navigator.clipboard.writeText(words);
    } catch { // a page opened from a disk may not be trusted with the clipboard
      const area = make("textarea", { value: words });
      const focused = document.activeElement;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
      focused.focus();
    }
    say.textContent = what + " copied.";
  };

  // As in the files beside the page: no spreadsheet takes a name for a formula; numbers stay numbers.
  const inert = (cell) => (/^[=+\-@]./.test(cell) && Number.isNaN(Number(cell)) ? "'" + cell : cell);
  const quoted = (cell) => (/[",\n]/.test(cell) ? '"' + cell.replaceAll('"', '""') + '"' : cell);
  const latexOf = {
    "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "<": "\\textless{}", ">": "\\textgreater{}", "|": "\\textbar{}",
    "−": "$-$", "–": "--", "±": "$\\pm$", "≤": "$\\leq$", "≥": "$\\geq$", "·": "$\\cdot$", "α": "$\\alpha$", "…": "\\dots{}",
  };
  const forLatex = (cell) => cell.replace(/[\\~^&%$#_{}<>|−–±≤≥·α…]/g, (c) => latexOf[c] || "\\" + c);
  const latexOfNumber = (cell) => forLatex(cell).replace(/(?<![\w.-])(-?)(\d[\d.,]*)(?:e([+-])0*(\d+))?/g, (_, sign, digits, powerSign, power) =>
    power ? "$" + sign + digits + " \\times 10^{" + powerSign.replace("+", "") + power + "}$" : (sign && "$-$") + digits);
  const piped = (cell) => cell.replace(/&/g, "&amp;").replace(/[\\`*_[\]<>|#~$]/g, "\\$&");
  const formats = {
    CSV: (heads, rows) => [heads, ...rows].map((row) => row.map(inert).map(quoted).join(",") + "\n").join(""),
    LaTeX: (heads, rows, words) => {
      const set = (cell, column) => (words[column] ? forLatex(cell) : latexOfNumber(cell));
      const lines = [heads.map(forLatex), ...rows.map((row) => row.map(set))].map((row) => row.join(" & ").replace(/^[[*]/, "{$&}") + " \\\\"); // \\ reads [ and *
      const columns = words.map((isText) => (isText ? "l" : "r")).join("");
      lines.splice(1, 0, "\\hline");
      return "\\begin{tabular}" + "{" + columns + "}\n" + lines.join("\n") + "\n\\end{tabular}\n";
    },
    Markdown: (heads, rows, words) => {
      const line = (row) => "| " + row.join(" | ") + " |\n";
      return line(heads.map(piped)) + line(words.map((isText) => (isText ? ":--" : "--:"))) + rows.map((row) => line(row.map(piped))).join("");
    },
  };

  const numberIn = (cell) => {
    const found = withHyphen(cell).replace(/(\d),(?=\d{3})/g, "$1").match(/-?\d+(\.\d+)?(e[-+]?\d+)?/i);
    return found ? Number(found[0]) : null;
  };
  const compare = (words, a, b) => {
    if (words) return a.localeCompare(b, "en", { numeric: true });
    const [x, y] = [numberIn(a), numberIn(b)];
    return x === y ? 0 : x === null ? Infinity : y === null ? -Infinity : x - y;
  };

  const sort = (table, column) => {
    const heads = [...table.tHead.rows[0].cells];
    const upwards = heads[column].getAttribute("aria-sort") !== "ascending";
    const words = heads[column].classList.contains("t");
    const keyed = rowsOf(table).map((row) => [text(row.cells[column]), row]);
    keyed.sort(([a], [b]) => {
      const order = compare(words, a, b); // an empty cell stays last in both directions
      return Number.isFinite(order) ? (upwards ? order : -order) : order;
    });
    heads.forEach((head) => head.removeAttribute("aria-sort"));
    heads[column].setAttribute("aria-sort", upwards ? "ascending" : "descending");
    table.tBodies[0].append(...keyed.map(([, row]) => row));
    say.textContent = "Sorted by " + heads[column].dataset.head + (upwards ? ", ascending." : ", descending.");
  };

  const equip = (table) => {
    const heads = [...table.tHead.rows[0].cells];
    const name = table.parentElement.getAttribute("aria-label");
    heads.forEach((head, column) => {
      head.dataset.head = text(head);
      const button = make("button", { type: "button", className: "sort", textContent: head.dataset.head });
      button.addEventListener("click", () => sort(table, column));
      head.replaceChildren(button);
    });
    const tools = make("div", { className: "tools" });
    if (table.tBodies[0].rows.length > 5) {
      const field = make("input", { type: "search", placeholder: "Filter rows" });
      field.setAttribute("aria-label", "Filter rows of " + name);
      field.addEventListener("input", () => {
        const wanted = field.value.toLowerCase().split(/\s+/).filter(Boolean);
        const rows = rowsOf(table);
        rows.forEach((row) => {
          const all = [...row.cells].map(text).join("\t").toLowerCase();
          row.hidden = !wanted.every((word) => all.includes(word));
        });
        say.textContent = rows.filter((row) => !row.hidden).length + " of " + rows.length + " rows shown.";
      });
      tools.append(field);
    }
    const later = [...heads.entries()].filter(([, head]) => head.dataset.more);
    if (later.length) {
      for (const row of [table.tHead.rows[0], ...rowsOf(table)]) for (const [column, head] of later) row.cells[column].classList.add("more", head.dataset.more);
      table.classList.add("brief");
      const always = later.some(([, head]) => head.dataset.more === "always");
      const button = make("button", { type: "button", className: "all-columns" + (always ? "" : " narrow"), textContent: "All columns" });
      button.setAttribute("aria-label", "All columns of " + name);
      button.setAttribute("aria-pressed", "false");
      button.addEventListener("click", () => button.setAttribute("aria-pressed", String(!table.classList.toggle("brief"))));
      tools.append(button);
    }
    for (const [format, write] of Object.entries(formats)) {
      const button = make("button", { type: "button", textContent: "Copy " + format });
      button.setAttribute("aria-label", "Copy " + format + " of " + name);
      button.addEventListener("click", () => {
        const rows = rowsOf(table).filter((row) => !row.hidden).map((row) => [...row.cells].map(text));
        copy(write(headsOf(table), rows, heads.map((head) => head.classList.contains("t"))), format);
      });
      tools.append(button);
    }
    table.parentElement.before(tools);
  };

  const offer = (place) => {
    const button = make("button", { type: "button", className: "copy", textContent: "Copy " + place.dataset.copy });
    button.addEventListener("click", () => copy([...place.querySelectorAll("p")].map(text).join(" "), "Text"));
    place.append(button);
  };

  // What may be said of a pair: never more than its verdict, and what its marks mean.
  const claim = (heads, [a, b, ...rest], showsGain) => {
    const value = Object.fromEntries(heads.slice(2).map((head, k) => [head, rest[k]]));
    const interval = heads.find((head) => head.endsWith("interval"));
    const known = [[interval, ""], ["p adjusted", "= "]].filter(([head]) => /\d/.test(value[head])).map(([head, sign]) => head + " " + sign + value[head]);
    const gain = value.gain + (known.length ? " (" + known.join(", ") + ")" : "");
    const [, verdict, found] = value.verdict.match(/^(.*?)\s*([*†‡§]*)$/);
    const ahead = numberIn(value.gain) === 0 ? a + " and " + b + " have the same score, to the digits shown" : a + " is ahead of " + b + " by " + gain;
    const sentences = {
      better: showsGain ? a + " is better than " + b + " by " + gain + "." : ahead + "; the test, whose null is not about the gain, calls " + a + " better.",
      equivalent: a + " and " + b + " are equivalent within the margin; they differ by " + gain + ".",
      identical: a + " and " + b + " are identical on every unit.",
      "not separated": ahead + "; they are not separated, which does not show that they are equal.",
      inconclusive: ahead + "; neither a difference nor equivalence is shown.",
    };
    const said = [sentences[verdict] || ahead + "; " + (/\w/.test(verdict) ? verdict : "the pair has no verdict") + "."];
    const meanings = JSON.parse(versus.dataset.marks);
    for (const mark of found) said.push(meanings[mark][0].toUpperCase() + meanings[mark].slice(1) + ".");
    return said.join(" ");
  };

  // The pairs of all tables of pairs, under both orders of their names: the numbers are those of the tables.
  const tables = [...document.querySelectorAll("table[data-pairs]")];
  const others = JSON.parse(document.getElementById("all-pairs")?.textContent ?? "[]");
  const pairIn = (table, a, b) => {
    const row = rowsOf(table).find(({ cells: [one, other] }) => [text(one), text(other)].sort().join("\n") === [a, b].sort().join("\n"));
    if (row) return [headsOf(table), [...row.cells].map(text)];
    const more = others.find(({ title }) => title === table.dataset.title);
    const [i, j] = [a, b].map((name) => more?.names.findIndex((own) => plain(own) === name));
    const found = more?.rows.find(([x, y]) => (x === i && y === j) || (x === j && y === i));
    return found && [more.heads, [more.names[found[0]], more.names[found[1]], ...found.slice(2)]];
  };
  // A name is not broken where the next line has room for it.
  const keepNames = (words, names, write = (part) => part) => {
    const parts = [words];
    for (const name of names) {
      for (let k = parts.length - 1; k >= 0; k -= 1) {
        if (typeof parts[k] !== "string") continue;
        const between = parts[k].split(name).flatMap((part) => [part, make("span", { className: "name", textContent: name })]);
        parts.splice(k, 1, ...between.slice(0, -1));
      }
    }
    return parts.map((part) => (typeof part === "string" ? write(part) : part));
  };
  const noBreaks = (words) => withMinus(words).replace(/ ([=≤≥]) (?=[\d.−-])/g, "\u00a0$1\u00a0").replace(/(\d|\bp) (?=%|adjusted)/g, "$1\u00a0");
  // Items that drive the gain of any two systems, by what the page holds of each system's items.
  const stored = JSON.parse(document.getElementById("item-scores")?.textContent ?? "[]");
  const valuesOf = (of, system) => {
    of.bytes ??= Uint8Array.from(atob(of.values), (c) => c.charCodeAt(0));
    const [at, view] = [of.systems.indexOf(system), new DataView(of.bytes.buffer)];
    const read = (k) => (of.levels ? of.levels[of.bytes[k]] : view.getInt16(2 * k, true) < -32767 ? undefined : of.step * view.getInt16(2 * k, true));
    return Float64Array.from({ length: of.count }, (_, k) => read(at * of.count + k) ?? NaN);
  };
  const listed = (of, [a, b], rows, said) => {
    const most = Math.max(...rows.flatMap(({ x, y }) => [Math.abs(x), Math.abs(y)]).filter(Number.isFinite), 0);
    const places = of.kind === "scores" && rows.every(({ x, y }) => Number.isInteger(x) && Number.isInteger(y)) ? 0
      : Math.min(8, Math.max(2, 2 - Math.floor(Math.log10(most || 1))));
    const heads = of.kind === "scores" ? ["item", a, b, "difference"] : ["item", "adds to " + a, "adds to " + b, "adds to the gain"];
    const table = make("table");
    const line = (cells, tag) => make("tr", {}, ...cells.map((cell, k) => make(tag, { textContent: cell, className: k ? "" : "t" })));
    const head = make("thead", {}, line(heads, "th"));
    head.querySelectorAll("th").forEach((cell) => cell.setAttribute("scope", "col"));
    const numbers = ({ x, y }) => [x, y, x - y].map((value) => withMinus(value.toFixed(places)));
    table.append(head, make("tbody", {}, ...rows.map((row) => line([of.items?.[row.k] ?? String(row.k + 1), ...numbers(row)], "td"))));
    const region = make("div", { className: "scroll", tabIndex: 0 }, table);
    region.setAttribute("role", "region");
    region.setAttribute("aria-label", [said, of.testSet, of.metric].join(" · "));
    return make("div", {}, make("p", { className: "listed" }, ...keepNames(said, [a, b])), region);
  };
  const drivers = (a, b) => {
    const there = stored.filter(({ systems }) => systems.includes(a) && systems.includes(b));
    const runOf = (model) => stored.flatMap(({ systems }) => systems).find((system) => system.startsWith(model + "/"));
    const [one, other] = [runOf(a), runOf(b)];
    if (!there.length && one && other) {
      const told = "Items are listed for single runs, such as " + one + " against " + other + "; models have a mean over runs.";
      return [make("p", { className: "caption" }, ...keepNames(told, [one, other]))];
    }
    const how = stored.length ? "The page holds the items of the best systems alone, as many as it has room for" : "The page does not hold the scores of items";
    if (!there.length) return [make("p", { className: "caption", textContent: how + "; the analysis driving-items lists those of the pairs that it is asked for." })];
    return there.map((of) => {
      const [first, second] = [valuesOf(of, a), valuesOf(of, b)];
      const rows = [...first].map((x, k) => ({ k, x, y: second[k], lead: of.direction * (x - second[k]) })).filter(({ lead }) => Math.abs(lead) > 1e-12);
      const [ahead, behind] = [1, -1].map((side) => rows.filter(({ lead }) => side * lead > 0).sort((one, other) => side * (other.lead - one.lead)));
      const count = (number) => number.toLocaleString("en") + (number === 1 ? " item" : " items");
      const alike = of.count - rows.length;
      const same = alike ? "; " + count(alike) + (alike === 1 ? " does" : " do") + " not tell them apart." : ".";
      const meaning = of.kind === "scores" ? "" : " What an item adds: the score less the score without it.";
      const told = count(ahead.length) + " for " + a + ", " + count(behind.length) + " for " + b + same + meaning;
      const lists = [[a, ahead], [b, behind]].filter(([, own]) => own.length)
        .map(([name, own]) => listed(of, [a, b], own.slice(0, 8), "Most for " + name + (own.length > 8 ? ", the first 8 of " + own.length.toLocaleString("en") : "")));
      const title = "Items that drive it · " + of.testSet + " · " + of.metric;
      const body = [make("p", { className: "caption" }, ...keepNames(told, [a, b])), make("div", { className: "drivers" }, ...lists)];
      return make("details", { className: "items", open: there.length === 1 }, make("summary", { textContent: title }), ...body);
    });
  };
  const answer = (area, a, b) => {
    area.replaceChildren();
    if (a === b) {
      area.append(make("p", { textContent: "Choose two different systems." }));
      return;
    }
    let found = 0;
    for (const table of tables) {
      const there = pairIn(table, a, b);
      if (!there) continue;
      const [heads, cells] = there;
      found += 1;
      const list = make("dl", { className: "facts" });
      heads.slice(2).forEach((head, k) => list.append(make("div", {}, make("dt", { textContent: IN_WORDS[head] ?? head }), make("dd", { textContent: withMinus(cells[k + 2]) }))));
      const said = claim(heads, cells, !table.dataset.null), whole = [a, b, ...(said.match(/(?:(?:p )?\w+ [=<≤≥] )?\d(?:\.\d+)?e-\d+/g) ?? [])];
      const lead = make("p", { className: "lead" }, ...keepNames(said, [...new Set(whole)].sort((x, y) => y.length - x.length), noBreaks));
      const place = make("div", {}, lead);
      place.dataset.copy = "this sentence";
      area.append(make("article", {}, make("h3", { textContent: table.dataset.title }), place, list));
      offer(place);
    }
    area.append(...drivers(a, b));
    if (!found) area.append(make("p", { textContent: "This pair is not in the tables of this page; tables/pairs.csv has all pairs." }));
  };

  document.querySelectorAll("table").forEach(equip);
  const versus = document.getElementById("versus");
  const inTables = tables.flatMap((table) => rowsOf(table).flatMap((row) => [text(row.cells[0]), text(row.cells[1])]));
  const names = [...new Set([...inTables, ...others.flatMap((more) => more.names.map(plain))])];
  if (versus && names.length > 1) {
    names.sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
    // The leader, who is better in the first row, against the next best: the smallest of the leader's gains.
    const leader = text(rowsOf(tables[0])[0].cells[0]);
    const gains = headsOf(tables[0]).indexOf("gain");
    const led = rowsOf(tables[0]).filter(({ cells }) => text(cells[0]) === leader);
    const next = led.reduce((least, row) => (numberIn(text(row.cells[gains])) < numberIn(text(least.cells[gains])) ? row : least));
    const area = make("div", { className: "answer" });
    area.setAttribute("aria-live", "polite");
    const choice = (label, chosen) => {
      const field = make("select", {}, ...names.map((name) => make("option", { textContent: name, value: name })));
      field.value = chosen;
      field.addEventListener("change", () => answer(area, one.value, other.value));
      versus.append(make("label", {}, label + " ", field));
      return field;
    };
    const one = choice("System", leader);
    const other = choice("against", text(next.cells[1]));
    versus.append(area);
    versus.closest("section").hidden = false;
    document.querySelector('nav a[href="#two"]').hidden = false;
    answer(area, one.value, other.value);
  }

  document.querySelectorAll("[data-copy]").forEach((place) => place.closest(".answer") || offer(place));
})();
