//! # The lexer: a source text as tokens
//!
//! Reads the tokens that plain programs are made of. Any other character, and any two symbols that
//! would be one operator of JavaScript that is not computed here, make the program not plain.

use std::iter::Peekable;
use std::str::Chars;

use super::number;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// An identifier or a keyword.
    Name(String),
    Number(f64),
    Text(String),
    Symbol(&'static str),
    End,
}

#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub(super) token: Token,
    /// A line ends between this token and the one before it.
    pub(super) is_on_new_line: bool,
}

/// Longer ones first where one begins like another. What must not follow a symbol is beside it.
const SYMBOLS: &[(&str, &[char])] = &[
    ("===", &['=']),
    ("!==", &['=']),
    ("==", &[]),
    ("!=", &[]),
    ("<=", &[]),
    (">=", &[]),
    ("=>", &[]),
    ("&&", &['=']),
    ("||", &['=']),
    ("??", &['=']),
    ("(", &[]),
    (")", &[]),
    ("[", &[]),
    ("]", &[]),
    ("{", &[]),
    ("}", &[]),
    (".", &['.']),
    (",", &[]),
    (";", &[]),
    (":", &[]),
    ("?", &['.']),
    ("!", &[]),
    ("<", &['<', '!']),
    (">", &['>']),
    ("+", &['+', '=']),
    ("-", &['-', '=']),
    ("*", &['*', '=']),
    ("%", &['=']),
    ("=", &[]),
];

/// None: the text has something in it that is not plain. The last token is the end.
pub(super) fn tokens(source: &str) -> Option<Vec<Placed>> {
    let mut lexer = Lexer { rest: source.chars().peekable() };
    let mut tokens = Vec::new();
    loop {
        let is_on_new_line = lexer.skip_blanks()?;
        let token = lexer.token()?;
        let is_end = token == Token::End;
        tokens.push(Placed { token, is_on_new_line });
        if is_end {
            return Some(tokens);
        }
    }
}

struct Lexer<'t> {
    rest: Peekable<Chars<'t>>,
}

impl Lexer<'_> {
    /// Blanks and comments. True: a line has ended among them.
    fn skip_blanks(&mut self) -> Option<bool> {
        let mut has_ended = false;
        loop {
            match self.rest.peek().copied() {
                Some('\n' | '\r') => has_ended = true,
                Some(' ' | '\t' | '\u{b}' | '\u{c}' | '\u{a0}') => {}
                Some('/') => match self.second() {
                    Some('/') => {
                        self.skip_line()?;
                        continue;
                    }
                    Some('*') => {
                        has_ended |= self.skip_comment()?;
                        continue;
                    }
                    _ => return Some(has_ended),
                },
                _ => return Some(has_ended),
            }
            self.rest.next();
        }
    }

    fn second(&self) -> Option<char> {
        self.rest.clone().nth(1)
    }

    fn skip_line(&mut self) -> Option<()> {
        while let Some(next) = self.rest.next_if(|next| !matches!(next, '\n' | '\r')) {
            if is_foreign_line_end(next) {
                return None;
            }
        }
        Some(())
    }

    fn skip_comment(&mut self) -> Option<bool> {
        let mut has_ended = false;
        let mut before = ' ';
        self.rest.nth(1);
        loop {
            let next = self.rest.next().filter(|next| !is_foreign_line_end(*next))?;
            has_ended |= matches!(next, '\n' | '\r');
            if (before, next) == ('*', '/') {
                return Some(has_ended);
            }
            before = next;
        }
    }

    fn token(&mut self) -> Option<Token> {
        match self.rest.peek().copied() {
            None => Some(Token::End),
            Some(first) if is_letter(first) => Some(Token::Name(self.name())),
            Some(first) if first.is_ascii_digit() => self.number(),
            Some('.') if self.second().is_some_and(|second| second.is_ascii_digit()) => {
                self.number()
            }
            Some('"' | '\'') => self.text(),
            Some('/') => self.slash(),
            Some(_) => self.symbol(),
        }
    }

    fn name(&mut self) -> String {
        let mut name = String::new();
        while let Some(next) = self.rest.next_if(|next| is_letter(*next) || next.is_ascii_digit()) {
            name.push(next);
        }
        name
    }

    fn number(&mut self) -> Option<Token> {
        let mut text = String::new();
        let mut before = ' ';
        while let Some(next) = self.rest.next_if(|next| {
            let is_sign = matches!(next, '+' | '-') && matches!(before, 'e' | 'E');
            is_sign || next.is_ascii_digit() || matches!(next, '.' | 'e' | 'E')
        }) {
            text.push(next);
            before = next;
        }
        let has_zero_in_front =
            text.starts_with('0') && text[1..].starts_with(|next: char| next.is_ascii_digit());
        let goes_on = self.rest.peek().is_some_and(|next| is_letter(*next) || *next == '\\');
        if has_zero_in_front || goes_on {
            return None;
        }
        number::decimal(&text).map(Token::Number)
    }

    fn text(&mut self) -> Option<Token> {
        let quote = self.rest.next()?;
        let mut text = String::new();
        loop {
            match self.rest.next()? {
                end if end == quote => return Some(Token::Text(text)),
                '\\' => text.push(self.escaped()?),
                '\n' | '\r' | '\0' => return None,
                next if is_foreign_line_end(next) => return None,
                next => text.push(next),
            }
        }
    }

    fn escaped(&mut self) -> Option<char> {
        Some(match self.rest.next()? {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'v' => '\u{b}',
            'u' => {
                let unit = (0..4)
                    .try_fold(0, |unit, _| Some(unit * 16 + self.rest.next()?.to_digit(16)?))?;
                char::from_u32(unit)? // Half a surrogate pair is no character.
            }
            mark if mark.is_ascii_punctuation() => mark,
            ' ' => ' ',
            _ => return None,
        })
    }

    /// Comments are behind us: it divides, or it is something else.
    fn slash(&mut self) -> Option<Token> {
        self.rest.next();
        (self.rest.peek() != Some(&'=')).then_some(Token::Symbol("/"))
    }

    fn symbol(&mut self) -> Option<Token> {
        let is_next = |symbol: &str| {
            let mut rest = self.rest.clone();
            symbol.chars().all(|wanted| rest.next() == Some(wanted))
        };
        let (symbol, unwanted) = SYMBOLS.iter().find(|(symbol, _)| is_next(symbol))?;
        self.rest.nth(symbol.len() - 1);
        let is_other = self.rest.peek().is_some_and(|next| unwanted.contains(next));
        (!is_other).then_some(Token::Symbol(symbol))
    }
}

/// Ends a line in JavaScript and looks like any other character.
fn is_foreign_line_end(next: char) -> bool {
    matches!(next, '\u{2028}' | '\u{2029}')
}

/// What a name may begin with, as far as every table of characters agrees.
fn is_letter(letter: char) -> bool {
    match letter {
        '$' | '_' => true,
        'a'..='z' | 'A'..='Z' => true,
        '\u{c0}'..='\u{24f}' => !matches!(letter, '\u{d7}' | '\u{f7}'),
        '\u{391}'..='\u{3a1}' | '\u{3a3}'..='\u{3a9}' | '\u{3b1}'..='\u{3c9}' => true,
        '\u{410}'..='\u{44f}' | '\u{5d0}'..='\u{5ea}' | '\u{621}'..='\u{63a}' => true,
        '\u{641}'..='\u{64a}' | '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fa}' => true,
        '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' => true,
        _ => false,
    }
}
