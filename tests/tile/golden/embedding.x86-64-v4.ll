; x86-64-v4
define internal void @"point"(ptr %".1", ptr %".2", ptr noalias %".3", i64 %".4") alwaysinline
{
entry:
  br label %"start"
start:
  %".6" = getelementptr i64, ptr %".1", i64 -1
  %".7" = getelementptr i64, ptr %".2", i64 0
  %".8" = load i64, ptr %".7"
  %".9" = urem i64 %".4", %".8"
  %".10" = udiv i64 %".4", %".8"
  %".11" = getelementptr ptr, ptr %".1", i64 0
  %".12" = load ptr, ptr %".11"
  %".13" = getelementptr ptr, ptr %".1", i64 1
  %".14" = load ptr, ptr %".13"
  %".15" = getelementptr ptr, ptr %".1", i64 2
  %".16" = load ptr, ptr %".15"
  %".17" = trunc i64 %".9" to i32
  %".18" = trunc i64 %".8" to i32
  %".19" = trunc i64 %".9" to i32
  %".20" = icmp slt i32 %".19", 0
  %".21" = add i32 %".19", 6
  %".22" = select  i1 %".20", i32 %".21", i32 %".19"
  %".23" = sext i32 %".22" to i64
  %".24" = icmp ult i64 %".23", 6
  %".25" = getelementptr inbounds i32, ptr %".12", i64 %".23"
  %".26" = select  i1 %".24", i64 %".23", i64 0
  %".27" = getelementptr inbounds i32, ptr %".12", i64 %".26"
  %".28" = load i32, ptr %".27", align 4
  %".29" = select  i1 %".24", i32 %".28", i32 2147483648
  %".30" = sext i32 %".29" to i64
  %".31" = sext i32 0 to i64
  %".32" = mul i64 %".31", 16
  %".33" = icmp ule i64 %".30", 9
  %".34" = mul i64 %".30", 16
  %".35" = add i64 %".34", %".32"
  %".36" = getelementptr float, ptr %".14", i64 %".35"
  %".37" = getelementptr i8, ptr %".3", i64 0
  %".38" = xor i1 %".33", -1
  br i1 %".38", label %"then", label %"end"
then:
  %".40" = getelementptr inbounds float, ptr %".37", i64 0
  store <16 x float> splat (float 0x7ff8000000000000), ptr %".40", align 4
  %".42" = icmp slt i64 %".30", 0
  %".43" = sub i64 0, %".30"
  %".44" = select  i1 %".42", i64 %".43", i64 0
  %".45" = sub i64 10, %".30"
  %".46" = icmp slt i64 %".45", 1
  %".47" = select  i1 %".46", i64 %".45", i64 1
  br label %"loop"
end:
  %".92" = select  i1 %".33", ptr %".36", ptr %".37"
  %".93" = trunc i64 %".9" to i32
  %".94" = sext i32 %".93" to i64
  %".95" = sext i32 0 to i64
  %".96" = mul i64 %".95", 16
  %".97" = mul i64 %".94", 16
  %".98" = add i64 %".97", %".96"
  %".99" = getelementptr float, ptr %".16", i64 %".98"
  %".100" = getelementptr inbounds float, ptr %".92", i64 0
  %".101" = load <16 x float>, ptr %".100", align 4
  %".102" = getelementptr inbounds float, ptr %".99", i64 0
  store <16 x float> %".101", ptr %".102", align 4
  ret void
loop:
  %"i" = phi  i64 [%".44", %"then"], [%".89", %"done.2"]
  %".49" = icmp slt i64 %"i", %".47"
  br i1 %".49", label %"body", label %"done"
body:
  %".51" = add i64 %".30", %"i"
  %".52" = icmp slt i64 %".32", 0
  %".53" = sub i64 0, %".32"
  %".54" = select  i1 %".52", i64 %".53", i64 0
  %".55" = sub i64 16, %".32"
  %".56" = icmp slt i64 %".55", 16
  %".57" = select  i1 %".56", i64 %".55", i64 16
  %".58" = icmp sgt i64 %".57", %".54"
  %".59" = sub i64 %".57", %".54"
  %".60" = select  i1 %".58", i64 %".59", i64 0
  %".61" = add i64 %".32", %".54"
  %".62" = and i64 %".60", -16
  br label %"loop.1"
done:
  br label %"end"
loop.1:
  %"i.1" = phi  i64 [0, %"body"], [%".74", %"body.1"]
  %".64" = icmp slt i64 %"i.1", %".62"
  br i1 %".64", label %"body.1", label %"done.1"
body.1:
  %".66" = add i64 %".61", %"i.1"
  %".67" = add i64 %".54", %"i.1"
  %".68" = mul i64 %".51", 16
  %".69" = add i64 %".68", %".66"
  %".70" = getelementptr inbounds float, ptr %".14", i64 %".69"
  %".71" = load <16 x float>, ptr %".70", align 4
  %".72" = getelementptr inbounds float, ptr %".37", i64 %".67"
  store <16 x float> %".71", ptr %".72", align 4
  %".74" = add i64 %"i.1", 16
  br label %"loop.1"
done.1:
  br label %"loop.2"
loop.2:
  %"i.2" = phi  i64 [%".62", %"done.1"], [%".87", %"body.2"]
  %".77" = icmp slt i64 %"i.2", %".60"
  br i1 %".77", label %"body.2", label %"done.2"
body.2:
  %".79" = add i64 %".61", %"i.2"
  %".80" = add i64 %".54", %"i.2"
  %".81" = mul i64 %".51", 16
  %".82" = add i64 %".81", %".79"
  %".83" = getelementptr inbounds float, ptr %".14", i64 %".82"
  %".84" = load float, ptr %".83", align 4
  %".85" = getelementptr inbounds float, ptr %".37", i64 %".80"
  store float %".84", ptr %".85", align 4
  %".87" = add i64 %"i.2", 1
  br label %"loop.2"
done.2:
  %".89" = add i64 %"i", 1
  br label %"loop"
}
