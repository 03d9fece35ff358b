package branchmask

import "testing"

func TestJSFound(t *testing.T) {
	jsDialect.checkAll(t, []construct{
		{`main`, list{"main", "maintenance", "xmain"}, list{"Main", ""}},
		{`^main$`, list{"main"}, list{"main\n", "xmain"}},
		{`(?:)`, list{"", "x"}, nil},
		{`[]`, nil, list{"", "x"}},
		{`^[^]$`, list{"\n", "é"}, list{"😀", ""}},
		{`^..$`, list{"😀", "ab"}, list{"a"}}, // units
		{`^😀+$`, list{"😀"}, list{"😀😀"}},
		{`^[😀]{2}$`, list{"😀"}, nil},
		{`^\ud83d[\u{}]?`, list{"😀"}, nil},
		{`^.$`, list{"\u0085", "x"}, list{"\n", "\r", "\u2028", "\u2029"}},
		{`\bmain\b`, list{"x/main", "émain"}, list{"xmain", "main1"}},
		{`\Bmain`, list{"xmain"}, list{"main", "émain"}},
		{`^\w\d\s\W\D\S$`, list{"a1\ufeffééé", "a1\u00a0/--"}, list{"é1   a"}},
	})
}

func TestJSSyntax(t *testing.T) {
	jsDialect.checkAll(t, []construct{
		{`^a{,2}]}{$`, list{"a{,2}]}{"}, nil},
		{`^a{2$`, list{"a{2"}, list{"aa"}},
		{`^a{2}b{1,}c{0,1}$`, list{"aab", "aabbc"}, list{"ab"}},
		{`^\x61\u0062\143\0\cJ$`, list{"abc\x00\n"}, nil},
		{`^\x6\u06\u{3}$`, list{"x6u06uuu"}, nil},
		{`^\c\c1$`, list{`\c\c1`}, nil},
		{`^[\c1][\c_][\c]{2}$`, list{"\x11\x1f\\c"}, nil},
		{`^[\b][\B][\d-x][--a]$`, list{"\bB--"}, nil},
		{`^\400\8\9\p{2}\q\-\_$`, list{"\x20089ppq-_"}, nil},
		{`^[a-c\]^-]+$`, list{"abc]^-"}, list{"d"}},
		{`^\k<x>$`, list{"k<x>"}, nil},
		{`^(?<x>a)\k<x>$`, list{"aa"}, list{"ak<x>"}},
		{`^\k<x>(?<x>a)$`, list{"a"}, nil},
		{`^(?<$_é>a)(?<\u0062>b)(?<𝒜>c)\k<𝒜>$`, list{"abcc"}, nil},
		{`^(a)\2$`, list{"a\x02"}, nil},
		{`^\1(a)$`, list{"a"}, nil},
		{`^[(]\(?(b)\1$`, list{"((bb"}, nil},
		{`^(?=a)*(?!x)+.$`, list{"a", "b"}, list{"x"}},
	})
}

func TestJSGroups(t *testing.T) {
	jsDialect.checkAll(t, []construct{
		{`^(?:(a)|b)*\1$`, list{"ab", "aa"}, nil}, // cleared by the next iteration
		{`^(?:(a)|(b)){2}\1\2$`, list{"abb", "baa"}, list{"aba"}},
		{`^(a*)*$`, list{"", "aa"}, list{"b"}},
		{`^(?:a?)*?b$`, list{"b", "aab"}, nil},
		{`^(?=(a+))\1b$`, list{"aab"}, nil},
		{`^(?=(a|ab))\1c`, nil, list{"abc"}},
		{`^(?!(a))\1b`, list{"b"}, list{"ab"}},
		{`(?<=release/)\d`, list{"release/1"}, list{"1"}},
		{`(?<!/)main`, list{"main"}, list{"x/main"}},
		{`(?<=^(\d+)(\d+))x\1$`, list{"123x1"}, list{"123x12"}}, // from right to left
		{`(?<=\1(a))b`, list{"aab"}, list{"ab"}},
		{`(?<=(?=a)..)c`, list{"abc"}, list{"bac"}},
		{`(?<=a{2,}?)b$`, list{"aaab"}, list{"ab"}},
		{`(?<=^.)a`, list{"xa"}, list{"😀a"}},
		{`^(?:^|a){2}$`, list{"a", "aa", ""}, nil},
		{`^(a|ab)(c|bcd)(d*)$`, list{"abcd"}, list{"abcdx"}},
		{`^a+?(?:b??c){2,3}$`, list{"abcc", "aacbcc"}, list{"ac"}},
	})
}
