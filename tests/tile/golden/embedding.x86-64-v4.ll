; x86-64-v4
define internal void @"point"(ptr %".1", ptr %".2", ptr noalias %".3", i64 %".4")
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
  store <16 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".40", align 4
  %".42" = icmp slt i64 %".30", 0
  %".43" = sub i64 0, %".30"
  %".44" = select  i1 %".42", i64 %".43", i64 0
  %".45" = sub i64 10, %".30"
  %".46" = icmp slt i64 %".45", 1
  %".47" = select  i1 %".46", i64 %".45", i64 1
  br label %"loop"
end:
  %".90" = select  i1 %".33", ptr %".36", ptr %".37"
  %".91" = trunc i64 %".9" to i32
  %".92" = sext i32 %".91" to i64
  %".93" = sext i32 0 to i64
  %".94" = mul i64 %".93", 16
  %".95" = mul i64 %".92", 16
  %".96" = add i64 %".95", %".94"
  %".97" = getelementptr float, ptr %".16", i64 %".96"
  %".98" = getelementptr inbounds float, ptr %".90", i64 0
  %".99" = load <16 x float>, ptr %".98", align 4
  %".100" = getelementptr inbounds float, ptr %".97", i64 0
  store <16 x float> %".99", ptr %".100", align 4
  ret void
loop:
  %"i" = phi  i64 [%".44", %"then"], [%".87", %"done.2"]
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
  %".58" = sub i64 %".57", %".54"
  %".59" = and i64 %".58", -16
  %".60" = icmp sgt i64 %".57", %".54"
  %".61" = add i64 %".54", %".59"
  %".62" = select  i1 %".60", i64 %".61", i64 %".54"
  br label %"loop.1"
done:
  br label %"end"
loop.1:
  %"i.1" = phi  i64 [%".54", %"body"], [%".73", %"body.1"]
  %".64" = icmp slt i64 %"i.1", %".62"
  br i1 %".64", label %"body.1", label %"done.1"
body.1:
  %".66" = add i64 %".32", %"i.1"
  %".67" = mul i64 %".51", 16
  %".68" = add i64 %".67", %".66"
  %".69" = getelementptr inbounds float, ptr %".14", i64 %".68"
  %".70" = load <16 x float>, ptr %".69", align 4
  %".71" = getelementptr inbounds float, ptr %".37", i64 %"i.1"
  store <16 x float> %".70", ptr %".71", align 4
  %".73" = add i64 %"i.1", 16
  br label %"loop.1"
done.1:
  br label %"loop.2"
loop.2:
  %"i.2" = phi  i64 [%".62", %"done.1"], [%".85", %"body.2"]
  %".76" = icmp slt i64 %"i.2", %".57"
  br i1 %".76", label %"body.2", label %"done.2"
body.2:
  %".78" = add i64 %".32", %"i.2"
  %".79" = mul i64 %".51", 16
  %".80" = add i64 %".79", %".78"
  %".81" = getelementptr inbounds float, ptr %".14", i64 %".80"
  %".82" = load float, ptr %".81", align 4
  %".83" = getelementptr inbounds float, ptr %".37", i64 %"i.2"
  store float %".82", ptr %".83", align 4
  %".85" = add i64 %"i.2", 1
  br label %"loop.2"
done.2:
  %".87" = add i64 %"i", 1
  br label %"loop"
}
