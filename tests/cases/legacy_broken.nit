[[[NIT_CALL]]]
write
path: [START]a.txt
text: [START]b[END]
[[[NIT_END]]]
[[[NIT_CALL]]]

[[[NIT_END]]]
good(1)
