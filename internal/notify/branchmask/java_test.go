package branchmask

import "testing"

// construct is a pattern with branch names that it takes and does not take.
type construct struct {
	pattern string
	yes, no []string
}

func (d dialect) checkAll(t *testing.T, tests []construct) {
	t.Helper()
	for _, test := range tests {
		for _, branch := range test.yes {
			d.check(t, test.pattern, branch, true)
		}
		for _, branch := range test.no {
			d.check(t, test.pattern, branch, false)
		}
	}
}

type list = []string

func TestJavaCharacters(t *testing.T) {
	javaDialect.checkAll(t, []construct{
		{`main`, list{"main"}, list{"Main", "maintenance", "xmain", ""}},
		{`\_\-\é\ `, list{"_-é "}, list{`\_\-\é\ `}},
		{`]}`, list{"]}"}, nil},
		{`\x61\x{62}\u0063\0144\0304`, list{"abcdÄ"}, nil},
		{`\0777`, list{"?7"}, list{"\u01ff"}},
		{`\a\e\f\t\cA\c?`, list{"\a\x1b\f\t\x01\x7f"}, nil},
		{`\x{1F600}|\ud83d\ude01|😂`, list{"😀", "😁", "😂"}, list{"😃"}},
		{`(?:\ud83d)(?:\ude00)`, nil, list{"😀"}}, // halves do not add up
		{`\Qa+b\E+`, list{"a+b", "a+bbb"}, list{"a+ba+b", "aab"}},
		{`\Qa+b`, list{"a+b"}, nil},
		{`\Qa\.\E\.`, list{`a\..`}, nil},
		{`(a)\1\Q1\E`, list{"aa1"}, nil},
		{`{2}`, list{""}, list{"{2}"}},
		{`a{2}{3}`, list{"aa"}, list{"aaaaaa"}},
		{`.`, list{"a", "é", "😀", "\v"}, list{"", "\n", "\r", "\u0085", "\u2028", "\u2029", "ab"}},
		{`(?s).`, list{"\n", "\u2028"}, list{"\r\n"}},
		{`(?d).`, list{"\r", "\u2028"}, list{"\n"}},
		{`a\Rb`, list{"a\nb", "a\rb", "a\r\nb", "a\u0085b", "a\u2029b", "a\vb"}, list{"a\n\nb", "ab"}},
		{`\R\n`, list{"\r\n", "\n\n"}, nil},
		{`\R{2}`, list{"\n\n", "\r\n\n"}, list{"\r\n"}}, // an iteration is never undone
	})
}

func TestJavaClasses(t *testing.T) {
	javaDialect.checkAll(t, []construct{
		{`[a-c[x-z]]+`, list{"axz"}, list{"ad"}},
		{`[a-z&&[^aeiou]]+`, list{"xyz"}, list{"xay"}},
		{`[a-z&&[def]]`, list{"d"}, list{"a"}},
		{`[a-z&&def]`, list{"d"}, list{"a"}},
		{`[a-z&&[b]c]`, list{"b", "c"}, list{"a"}},
		{`[a-z&&^b]`, list{"b"}, list{"a", "^"}},
		{`[^a[b]]`, list{"c"}, list{"a", "b"}}, // negates all of it
		{`[^a-c&&[^b]]`, list{"b", "d"}, list{"a", "c"}},
		{`[a&&[ab]&b]`, list{"a", "b", "&"}, nil},
		{`[ax&&[a]&b]`, list{"a", "b", "&", "x"}, nil}, // singles come back
		{`[ax&&[a]]`, list{"a"}, list{"x"}},
		{`[a&b]`, list{"a", "b", "&"}, nil},
		{`[&&a]`, list{"a"}, list{"&"}},
		{`[a&&]`, list{"a"}, nil},
		{`[]a]`, list{"]", "a"}, nil},
		{`[^]a]`, list{"b"}, list{"]", "a"}},
		{`[a^]`, list{"a", "^"}, nil},
		{`[a\[^b]`, list{"a", "[", "^", "b"}, nil},
		{`[a-]`, list{"a", "-"}, nil},
		{`[a-[b]]`, list{"a", "-", "b"}, nil},
		{`[\w-z]`, list{"a", "-"}, nil},
		{`[\Qa^-]\E]`, list{"a", "^", "-", "]"}, list{"b"}},
		{`[\v-\x20]`, list{"\v", "\r", " "}, list{"\n"}},
		{`[[:alpha:]]+`, list{"alpha:"}, list{"beta"}},
		{`[\x{1F600}-\x{1F603}]`, list{"😁"}, list{"😅"}},
		{`\w\d\s\h\v`, list{"a1\v\t\n"}, list{"é1   "}},
		{`\W\D\S\H\V`, list{"é" + "éé" + "éé"}, list{"aéééé"}},
	})
}

func TestJavaProperties(t *testing.T) {
	javaDialect.checkAll(t, []construct{
		{`\pL\p{Lu}\P{Lu}\p{L}`, list{"éÉéa"}, list{"ééÉa"}},
		{`\p{Lower}\p{Upper}\p{Alpha}\p{Digit}\p{Alnum}\p{Punct}`, list{"aAa11_"}, list{"éAa11_", "aAa1é_"}},
		{`\p{Graph}\p{Print}\p{Blank}\p{Cntrl}\p{XDigit}\p{Space}\p{ASCII}`, list{"a \t\x7ff\va"}, list{"  \t\x7ff\va"}},
		{`\p{IsLatin}\p{IsGreek}\p{script=Cyrillic}\p{sc=Hira}`, list{"éλжあ"}, list{"λéжあ"}},
		{`\p{InGreek}\p{InBasic Latin}\p{blk=BasicLatin}\p{InLATIN_1_SUPPLEMENT}`, list{"λaaé"}, list{"aaaé"}},
		{`\p{IsAlphabetic}\p{IsUppercase}\p{IsWhite_Space}\p{IsIdeographic}\p{IsLetter}\p{IsLu}`, list{"éÉ\u2003漢éÉ"}, list{"éÉaaéÉ"}},
		{`\p{general_category=Nd}\p{gc=L}\p{LC}\p{LD}\p{L1}\p{all}`, list{"٣éa٣é\n"}, list{"aéa٣é\n"}},
		{`\p{javaLowerCase}\p{javaUpperCase}\p{javaMirrored}\p{javaJavaIdentifierStart}\p{javaWhitespace}`, list{"éÉ($ "}, list{"Éé($ "}},
		{`\p{Cn}`, list{"\u061d"}, list{"a"}}, // U+061D came after Unicode 13
		{`(?i)\p{Lower}\p{Lu}\p{javaUpperCase}`, list{"Aaé"}, list{"éaé"}},
		{`(?U)\p{Lower}\p{ALPHA}\p{punct}\w\d\s`, list{"éé¿é٣\u2003"}, list{"Éé¿é٣\u2003"}},
		{`\w\d\s\h\v`, list{"a1\v\t\n"}, list{"é1\v\t\n", "a٣\v\t\n", "a1\u2003\t\n"}},
		{`\W\D\S\H\V`, list{"éa\u2003aa"}, list{"aaaaa"}},
		{`\h\h\v`, list{"\u180e\u2003\u2028"}, nil},
	})
}

func TestJavaFlags(t *testing.T) {
	javaDialect.checkAll(t, []construct{
		{`(?i)fEATURE/é`, list{"Feature/é", "FEATURE/é"}, list{"feature/É"}},
		{`(?iu)feature/é`, list{"FEATURE/É"}, nil},
		{`(?i)[a-c]k`, list{"BK", "Bk"}, list{"b\u212a"}},
		{`(?iu)[a-c]k`, list{"B\u212a"}, nil},
		{`(?iu)[k-l]s`, list{"\u212a\u017f"}, nil},
		{`(?iu)i`, list{"I", "İ", "ı"}, nil},
		{`(?iu)ß`, list{"ß"}, list{"ẞ"}}, // alone it has no other case
		{`(?iu)aß`, list{"Aẞ"}, nil},     // in a run it has
		{`(?i:a)b`, list{"Ab"}, list{"AB"}},
		{`a(?i)b|c`, list{"aB", "C"}, list{"AB"}},
		{`(a(?i)b)c`, list{"aBc"}, list{"aBC"}},
		{`(?i)a(?-i)b(?i-i:c)`, list{"Abc"}, list{"ABc", "AbC"}},
		{`(?x) a b # comment
			c \  [ d e ] \Q f\E`, list{"abc d f"}, list{"abc   f", "abcdf"}},
		{`(?x)a + +b`, list{"aab"}, nil},
		{`(?x)a {1 , 2}`, list{"aa"}, list{"aaa"}},
		{`(?x)( ?:a)\x6 1`, list{"aa"}, nil},
		{`(?x)[ ^a]`, list{"^", "a"}, list{"b"}},
		{`(?x:a b)c d`, list{"abc d"}, nil},
		{`(?U)\bé`, list{"é"}, nil},
		{`(?s-s).`, nil, list{"\n"}},
	})
}

func TestJavaAnchors(t *testing.T) {
	javaDialect.checkAll(t, []construct{
		{`^main$`, list{"main"}, list{"main\n"}},
		{`(?s)main$.?`, list{"main", "main\n", "main\u2028"}, list{"mainx"}},
		{`(?s)main\Z.{2}`, list{"main\r\n"}, list{"main\n\n"}},
		{`(?s)main\r$\n`, nil, list{"main\r\n"}}, // not inside a line break
		{`(?sd)main$.?`, list{"main\n"}, list{"main\r"}},
		{`(?s)main\z.?`, list{"main"}, list{"main\n"}},
		{`(?m)a$\n^b`, list{"a\nb"}, nil},
		{`(?m)a\n^`, nil, list{"a\n"}}, // no line begins at the end
		{`(?m)^`, nil, list{""}},
		{`(?md)a$\r^b`, nil, list{"a\rb"}},
		{`\Aa\Gb|\Gab`, list{"ab"}, nil},
		{`a\b/\b1`, list{"a/1"}, nil},
		{`a\bé`, nil, list{"aé"}}, // é is part of a word, though no \w
		{`a\Bé`, list{"aé"}, nil},
		{`e\u0301\b/`, list{"e\u0301/"}, nil},
		{`/\b\u0301`, nil, list{"/\u0301"}}, // a mark on nothing
		{`^*a$+`, list{"a"}, nil},
	})
}

func TestJavaGroups(t *testing.T) {
	javaDialect.checkAll(t, []construct{
		{`a*+b`, list{"aab"}, nil},
		{`a*+a|\w?+a|a{1,2}+a`, list{"aaa", "xa"}, list{"aaaa", "a"}},
		{`(?>a|ab)c`, list{"ac"}, list{"abc"}},
		{`(?:a|ab)++c`, list{"aac"}, list{"abc"}},
		{`(?=a).(?!b).(?<=ac).*`, list{"ac", "acb"}, list{"ab", "bc"}},
		{`(?<x>a)(?<y1>b)\k<x>\k<y1>`, list{"abab"}, list{"abba"}},
		{`(a)(b)(c)(d)(e)(f)(g)(h)(i)(j)\10\11`, list{"abcdefghijja1"}, nil},
		{`(a)?\1b`, list{"aab"}, list{"b"}}, // what captured nothing matches nothing
		{`\1(a)|\2`, nil, list{"a", "aa", ""}},
		{`(?i)(a)\1`, list{"aA"}, nil},
		{`(?i)(é)\1`, list{"éé"}, list{"éÉ"}},
		{`(?iu)(é)\1`, list{"éÉ"}, nil},
		{`(a|b)*\1`, list{"abb"}, list{"aba"}},
		{`(?:(a)|b)*\1`, list{"aba"}, nil}, // kept from an earlier iteration
		{`()*\1`, nil, list{""}},           // an empty iteration captures nothing
		{`(){1}\1`, list{""}, nil},
		{`(?:^|a){2}`, list{"aa", ""}, list{"a"}},
		{`(?:(?!(a))b|\1\1b)`, list{"b", "aab"}, nil},  // captured in what failed
		{`(?:(?>(a))b|\1\1c)`, list{"ab", "aac"}, nil}, // and in what is given up
		{`(?=(?:(\w)*-)*)a\1.*`, list{"ab-cd-", "abb-cd-"}, list{"cab-"}},
		{`(\R)*\n`, list{"\n\n"}, list{"\r\n"}},
		{`(?:ab?){2,3}?c|x??`, list{"abac", "aaac", "x", ""}, list{"ac"}},
	})
}

func TestJavaLookBehind(t *testing.T) {
	javaDialect.checkAll(t, []construct{
		{`.*(?<!wip)`, list{"main"}, list{"my-wip"}},
		{`.*(?<=a{1,3}|xy)b`, list{"aab", "xyb"}, list{"yb"}},
		{`.*(?<=(ab){2})c\1`, list{"ababcab"}, list{"abcab"}},
		{`.*(?<=\w+)b`, list{"ab"}, list{"b"}},
		{`.*(?<=\w+a)b`, list{"cab"}, list{"ab"}},
		{`.*(?<=\w+\d+)b`, nil, list{"a1b"}}, // Java's reach overflows
		{`.*(?<=\w++)b`, nil, list{"ab"}},    // runs past the end
		{`.*(?<=(?<!x)a)b`, list{"ab"}, list{"xab"}},
		{`.(?<=^.)a`, list{"xa"}, list{"😀a"}}, // goes back by units …
		{`.(?<=😀)a`, list{"😀a"}, nil},         // … unless such a character is written out
		{`.(?<=^.)a|😀`, list{"😀a"}, nil},
		{`.(?<=\x{1F600})a`, nil, list{"😀a"}},
		{`(?<=(?=a))ab`, list{"ab"}, nil},
	})
}
